import { outcomePhase, type TurnOutcome, type TurnOutcomePhase } from '@celestea/core';

import type { CliIo, Output } from './io.ts';
import { styleOf } from './style.ts';
import { safeLine, safeText } from './text.ts';

/** What the command tells the shell. */
export const EXIT = {
  completed: 0,
  failed: 1,
  misuse: 2,
  cancelled: 130,
  /** Cancelled by SIGTERM. */
  terminated: 143,
} as const;

/** One of the five exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const CODES: Readonly<Record<TurnOutcomePhase, ExitCode>> = {
  completed: EXIT.completed,
  cancelled: EXIT.cancelled,
  error: EXIT.failed,
  step_limit: EXIT.failed,
  interrupted: EXIT.failed,
};

/** The exit code of a turn's outcome: 0 completed, 130 cancelled, 1 for the other three. */
export const exitCodeOf = (outcome: TurnOutcome): ExitCode => CODES[outcomePhase(outcome)];

/** Why a command cannot do what it was asked for; the command ends with it. */
export class Refusal extends Error {
  readonly code: ExitCode;

  constructor(code: ExitCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** What was asked for cannot be had. */
export const misused = (message: string): Refusal => new Refusal(EXIT.misuse, message);

/** It went wrong. */
export const failed = (message: string): Refusal => new Refusal(EXIT.failed, message);

const HELP_HINT = 'Try celestea --help.';

/** Says what went wrong. */
export function complain(stderr: Output, message: string): void {
  stderr.write(`celestea: ${safeText(message)}\n`);
}

/** Says why a command is not done, and where to look when it was misuse; gives the exit code. */
export function refuse(stderr: Output, { code, message }: Refusal): ExitCode {
  complain(stderr, code === EXIT.misuse ? `${message}\n${HELP_HINT}` : message);
  return code;
}

/** Says on stderr what is worth knowing and stops nothing; dimmed where there are colours. */
export function remark({ stderr, env }: Pick<CliIo, 'stderr' | 'env'>, text: string): void {
  const { dim } = styleOf({ stdout: stderr, env });
  stderr.write(`${dim(safeLine(text, 400))}\n`);
}
