import type { WireApproval } from '../../src/wire.ts';
import type { CallItem } from './view.ts';

/** Where a call stands. */
export type CallState =
  | 'waiting'
  | 'running'
  | 'done'
  | 'failed'
  | 'denied'
  | 'not_run'
  | 'abandoned';

/** Where a call stands, in words. */
export const CALL_STATE_WORDS: Readonly<Record<CallState, string>> = {
  waiting: 'waits for approval',
  running: 'running',
  done: 'done',
  failed: 'failed',
  denied: 'denied',
  not_run: 'not run',
  abandoned: 'abandoned, outcome not known',
};

/** How the loop words the answer of a call that it never started. */
const NOT_RUN = /^(cancelled before execution$|not run: )/;

/** Where a call stands; `isLive` says whether its turn runs. */
export function callState(
  call: CallItem,
  approval: WireApproval | null,
  isLive: boolean,
): CallState {
  const { result } = call;
  if (result === null) {
    if (!isLive) return 'abandoned';
    return approval === null ? 'running' : 'waiting';
  }
  if (result.isAbandoned) return 'abandoned';
  if (result.ok) return 'done';
  if (result.isDenied) return 'denied';
  return NOT_RUN.test(result.error ?? '') ? 'not_run' : 'failed';
}
