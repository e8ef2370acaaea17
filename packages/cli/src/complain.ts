import { EXIT, type ExitCode } from './exit-code.ts';
import { HELP_HINT } from './help.ts';
import type { CliIo, Output } from './io.ts';
import { safeLine, safeText } from './safe-text.ts';
import { createStyle, wantsColours } from './style.ts';

/** Why a command cannot do what it was asked for. */
export interface Refusal {
  readonly ok: false;
  readonly code: typeof EXIT.failed | typeof EXIT.misuse | typeof EXIT.cancelled;
  readonly error: string;
}

const LONGEST_REMARK = 400;

/** Says what went wrong. */
export function complain(stderr: Output, message: string): void {
  stderr.write(`celestea: ${safeText(message)}\n`);
}

/** Says what is wrong with the command line and where to look; gives the exit code. */
export function misuse(stderr: Output, message: string): typeof EXIT.misuse {
  complain(stderr, `${message}\n${HELP_HINT}`);
  return EXIT.misuse;
}

/** Says why a command is not done; gives the exit code. */
export function refuse(stderr: Output, { code, error }: Refusal): ExitCode {
  if (code === EXIT.misuse) return misuse(stderr, error);
  complain(stderr, error);
  return code;
}

/** Says on stderr what is worth knowing and stops nothing; dimmed where there are colours. */
export function remark({ stderr, env }: Pick<CliIo, 'stderr' | 'env'>, text: string): void {
  const { dim } = createStyle(wantsColours({ stdout: stderr, env }));
  stderr.write(`${dim(safeLine(text, LONGEST_REMARK))}\n`);
}
