import type { TurnOutcome } from '@celestea/core';

import { answerCalls } from './dispatch.ts';
import { replyEvent } from './events.ts';
import { callModel } from './model-call.ts';
import { planCalls, type PlannedCall } from './planned-call.ts';
import { generateFailure, type Reply } from './reply.ts';
import { prepareRequest } from './request.ts';
import type { Turn } from './turn.ts';

/**
 * One model step: request, stream, verdict (L2.3). Says how the turn ends; `null` when another
 * step follows. Throws when a seam breaks.
 */
export async function runStep(turn: Turn, step: number): Promise<TurnOutcome | null> {
  const preparing = prepareRequest(turn, step);
  const request = preparing instanceof Promise ? await preparing : preparing;
  if (typeof request === 'string') return turn.cancelled ? 'cancelled' : generateFailure(request);
  if (turn.flushes) await turn.flush(); // what the model is about to answer is on disk (X4)
  if (turn.cancelled) return 'cancelled';
  const reply = await callModel(turn, request);
  const verdict = decide(turn, reply);
  if (!Array.isArray(verdict)) return verdict;
  await answerCalls(turn, verdict);
  return null;
}

/**
 * What follows from a reply (L4): calls to answer, or the turn's end. The last checkpoint of a
 * step comes before its `done` event.
 */
function decide(turn: Turn, { done, failure }: Reply): PlannedCall[] | TurnOutcome {
  if (turn.cancelled) return 'cancelled';
  if (done === null) return failure ?? 'interrupted';
  const { text, finish } = done;
  const planned = planCalls(turn, done);
  const event = replyEvent(text, planned.map(({ call }) => call), finish);
  if (planned.length === 0) {
    turn.record({ type: 'assistant_message', text }, event);
    return failure ?? 'completed';
  }
  if (failure !== null || text === '') turn.emit(event);
  else turn.record({ type: 'assistant_message', text, calls_follow: true }, event);
  return failure ?? planned;
}
