import type { TurnOutcome } from '@celestea/core';

import { answerCalls } from './dispatch.ts';
import { replyEvent } from './events.ts';
import { callModel } from './model-call.ts';
import { planCalls, type PlannedCall } from './planned-call.ts';
import { generateFailure, type Reply } from './reply.ts';
import { prepareRequest, type Prepared } from './request.ts';
import type { Turn } from './turn.ts';

/** What follows from a reply (L4). */
type Verdict =
  | { readonly kind: 'end'; readonly outcome: TurnOutcome }
  /** There are calls to answer, and then another step. */
  | { readonly kind: 'calls'; readonly planned: readonly PlannedCall[] };

const end = (outcome: TurnOutcome): Verdict => ({ kind: 'end', outcome });

/**
 * One model step: request, stream, verdict (L2.3). Says how the turn ends; `null` when another
 * step follows. Throws when a seam breaks.
 */
export async function runStep(turn: Turn, step: number): Promise<TurnOutcome | null> {
  const preparing = prepareRequest(turn, step);
  const prepared = preparing instanceof Promise ? await preparing : preparing;
  if (prepared.kind !== 'ready') return failureOf(turn, prepared);
  if (turn.flushes) await turn.flush(); // what the model is about to answer is on disk (X4)
  if (turn.cancelled) return 'cancelled';
  const verdict = decide(turn, await callModel(turn, prepared.request));
  switch (verdict.kind) {
    case 'end':
      return verdict.outcome;
    case 'calls':
      await answerCalls(turn, verdict.planned);
      return null;
    default:
      return verdict satisfies never;
  }
}

/** How a turn ends that has no request to send; a cancel wins over every failure (L4.1). */
const failureOf = (turn: Turn, prepared: Exclude<Prepared, { kind: 'ready' }>): TurnOutcome =>
  turn.cancelled || prepared.kind === 'cancelled' ? 'cancelled' : generateFailure(prepared.message);

/** The last checkpoint of a step comes before its `done` event (L4.1). */
function decide(turn: Turn, { done, failure }: Reply): Verdict {
  if (turn.cancelled) return end('cancelled');
  if (done === null) return end(failure ?? 'interrupted');
  const { text, finish } = done;
  const planned = planCalls(turn, done);
  const event = replyEvent(text, planned.map(({ call }) => call), finish);
  if (planned.length === 0) {
    turn.record({ type: 'assistant_message', text }, event);
    return end(failure ?? 'completed');
  }
  if (failure !== null || text === '') turn.emit(event);
  else turn.record({ type: 'assistant_message', text, calls_follow: true }, event);
  return failure === null ? { kind: 'calls', planned } : end(failure);
}
