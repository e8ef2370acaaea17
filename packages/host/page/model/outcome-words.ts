import type { OutcomeKind } from './view.ts';

/** How a turn ended, in words. */
export const OUTCOME_WORDS: Readonly<Record<OutcomeKind, string>> = {
  completed: 'completed',
  cancelled: 'cancelled',
  error: 'failed',
  step_limit: 'stopped at the step limit',
  interrupted: 'interrupted before the reply was finished',
};
