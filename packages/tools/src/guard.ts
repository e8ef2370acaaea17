import type { ToolDecision, ToolGuard, ToolInput } from '@celestea/core';

import { seekApproval, type ApprovalSettings } from './approval.ts';
import { thrownText } from './thrown.ts';
import { readDecision } from './verdict.ts';
import { within } from './within.ts';

/** What came of asking the guards about a call. */
export interface Judgement {
  /** `null` when there is no guard. */
  decision: ToolDecision | null;
  /** Why the call must not run, in words for the model; `null` when it may. */
  refusal: string | null;
}

/**
 * Asks the guards in order; the first verdict that is not `allow` ends the chain (C3.6). An `ask`
 * is put to the approval service, and only its `allow` lets the chain go on: with the guards
 * after the one that asked, since an approval answers that guard alone. It cannot undo a later
 * `deny`, and a later `ask` is a question of its own. Without a service an `ask` refuses.
 *
 * The decision of a call that was approved is `allow`, of one that somebody refused `deny`; it
 * stays `ask` when nobody decided: there is no service, its time was up, the call was cancelled.
 * A guard that has not answered when the call is cancelled is not waited for: the call is denied.
 *
 * Never rejects: a guard that throws, rejects or answers nonsense denies, for a check that did
 * not take place must not read as passed.
 */
export async function judgeCall(
  guards: readonly ToolGuard[],
  input: ToolInput,
  approval: ApprovalSettings = {},
): Promise<Judgement> {
  let decision: ToolDecision | null = null;
  for (const guard of guards) {
    const answering = askGuard(guard, input);
    if (await isCancelled(answering, approval.signal)) return CANCELLED;
    decision = await answering;
    if (decision.kind === 'deny') return denied(decision.reason);
    if (decision.kind === 'allow') continue;
    const { reason } = decision;
    const answer = await seekApproval(input, reason, approval);
    if (answer.kind === 'deny') return denied(answer.reason);
    if (answer.kind === 'open') return { decision, refusal: `${answer.why}: ${reason}` };
    decision = { kind: 'allow' };
  }
  return { decision, refusal: null };
}

async function askGuard(guard: ToolGuard, input: ToolInput): Promise<ToolDecision> {
  try {
    return readDecision(await guard.check(input), "a guard's", 'allow, deny or ask');
  } catch (thrown) {
    return { kind: 'deny', reason: `a guard failed: ${thrownText(thrown)}` };
  }
}

/** A check that did not come to its end has not passed. */
const CANCELLED: Judgement = Object.freeze({
  decision: Object.freeze({ kind: 'deny', reason: 'cancelled before a guard had answered' }),
  refusal: 'cancelled before a guard had answered',
});

/** Whether the call is cancelled first. An answer that is on its way at that moment still counts. */
async function isCancelled(answering: Promise<unknown>, signal?: AbortSignal): Promise<boolean> {
  if (signal === undefined || (await within(answering, undefined, signal)) === 'done') return false;
  return (await within(answering, 0)) !== 'done';
}

const DENIED = 'denied: ';

/** Whether the error of a call says that a guard, or who was asked, denied it. */
export const isDenial = (error: string | null): boolean => error?.startsWith(DENIED) === true;

/** A refusal by a guard, or by who was asked. */
export const denied = (reason: string): Judgement => ({
  decision: { kind: 'deny', reason },
  refusal: DENIED + reason,
});
