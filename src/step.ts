import { describeValue, type ToolCall, type TurnOutcome } from '@celestea/core';

import { answerCalls } from './dispatch.ts';
import { replyEvent } from './events.ts';
import { callModel } from './model-call.ts';
import { generateFailure, type Reply } from './reply.ts';
import { prepareRequest } from './request.ts';
import type { Turn } from './turn.ts';

/** What a step says of the turn: another step, or its end. */
export type StepVerdict = { kind: 'continue' } | { kind: 'end'; outcome: TurnOutcome };

const end = (outcome: TurnOutcome): StepVerdict => ({ kind: 'end', outcome });

/** One model step: request, stream, verdict (L2.3). Throws when a seam breaks. */
export async function runStep(turn: Turn, step: number): Promise<StepVerdict> {
  const prepared = await prepareRequest(turn, step);
  switch (prepared.kind) {
    case 'ready': {
      await turn.flush(); // what the model is about to answer is on disk (X4)
      if (turn.cancelled) return end('cancelled');
      return decide(turn, await callModel(turn, prepared.request));
    }
    case 'failed':
      return end(turn.cancelled ? 'cancelled' : generateFailure(prepared.message));
    case 'cancelled':
      return end('cancelled');
    default:
      return prepared satisfies never;
  }
}

/** What follows from a reply (L4). The last checkpoint of a step comes before its `done` event. */
async function decide(turn: Turn, { done, failure }: Reply): Promise<StepVerdict> {
  if (turn.cancelled) return end('cancelled');
  if (done === null) return end(failure ?? 'interrupted');
  const { text, finish } = done;
  const calls = ownIds(turn, done.calls);
  const event = replyEvent(text, calls, finish);
  if (calls.length === 0) {
    turn.record({ type: 'assistant_message', text }, event);
    return end(failure ?? 'completed');
  }
  if (failure !== null) {
    turn.emit(event);
    return end(failure);
  }
  if (text === '') turn.emit(event);
  else turn.record({ type: 'assistant_message', text, calls_follow: true }, event);
  await answerCalls(turn, calls, finish);
  return { kind: 'continue' };
}

/** The calls with ids that tell them apart in the whole log (X11). */
function ownIds(turn: Turn, calls: readonly ToolCall[]): ToolCall[] {
  const own = turn.callIds?.unique(calls) ?? [];
  own.forEach(({ id }, index) => {
    if (id === calls[index]?.id) return;
    const came = describeValue(calls[index]?.id);
    turn.diagnose('call_id_replaced', `call id ${came} was replaced by ${id}`);
  });
  return own;
}
