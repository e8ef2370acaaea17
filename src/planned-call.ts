import { describeValue, exceedsLevels, sendableValue, type ToolCall } from '@celestea/core';

import type { FinishedReply } from './reply.ts';
import { ARGUMENTS_CUT_OFF, ARGUMENTS_TOO_DEEP } from './tool-output.ts';
import type { Turn } from './turn.ts';

/** A call of a reply, as it is logged and told. */
export interface PlannedCall {
  readonly call: ToolCall;
  /** The error that answers it in place of a tool; `null` for one that is to run. */
  readonly refusal: string | null;
}

/**
 * The calls of a reply with ids that tell them apart in the whole log (X11) and arguments that can
 * be handled (X32), and which of them are not to run.
 */
export function planCalls(turn: Turn, { calls, finish }: FinishedReply): PlannedCall[] {
  const own = turn.callIds.unique(calls, (former, id) => {
    const message = `call id ${describeValue(former)} was replaced by ${id}`;
    turn.diagnose('call_id_replaced', message);
  });
  return own.map((call) => {
    // the last one's arguments may have been cut (X8)
    const refusal = finish === 'length' ? ARGUMENTS_CUT_OFF : null;
    if (!exceedsLevels(call.args)) return { call, refusal };
    const cut = { ...call, args: sendableValue(call.args) };
    return { call: cut, refusal: refusal ?? ARGUMENTS_TOO_DEEP };
  });
}
