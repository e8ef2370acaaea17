import { outcomePhase, type TurnOutcome } from '@celestea/core';

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

/** The exit code of a turn's outcome: 0 completed, 130 cancelled, 1 for the other three. */
export function exitCodeOf(outcome: TurnOutcome): ExitCode {
  const phase = outcomePhase(outcome);
  switch (phase) {
    case 'completed':
      return EXIT.completed;
    case 'cancelled':
      return EXIT.cancelled;
    case 'error':
    case 'step_limit':
    case 'interrupted':
      return EXIT.failed;
    default:
      return phase satisfies never;
  }
}
