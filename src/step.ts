import { describeValue, type ModelRequest, type TurnOutcome } from '@celestea/core';

import { errorMessage, ignore, raceAbort } from './cancel.ts';
import { answerCalls } from './dispatch.ts';
import { replyEvent } from './events.ts';
import { readReply, type Reply } from './reply.ts';
import { buildRequest } from './request.ts';
import { closeStream, isAsyncIterable } from './stream.ts';
import type { Turn } from './turn.ts';

/** What a step says of the turn: another step, or its end. */
export type StepVerdict = { kind: 'continue' } | { kind: 'end'; outcome: TurnOutcome };

const end = (outcome: TurnOutcome): StepVerdict => ({ kind: 'end', outcome });

/** One model step: request, stream, verdict (L2.3). */
export async function runStep(turn: Turn): Promise<StepVerdict> {
  const { log, tools } = turn.seams;
  const opened = await openStream(turn, buildRequest(turn.config, log, tools));
  switch (opened.kind) {
    case 'open':
      return decide(turn, await readReply(turn, opened.stream));
    case 'none':
      return end(turn.cancelled ? 'cancelled' : opened.outcome);
    default:
      return opened satisfies never;
  }
}

type Opened =
  { kind: 'open'; stream: AsyncIterable<unknown> } | { kind: 'none'; outcome: TurnOutcome };

/** Asks the model. Whatever it does wrong is an outcome, never a rejection (L2.6). */
async function openStream(turn: Turn, request: ModelRequest): Promise<Opened> {
  const generated = callModel(turn, request);
  const result = await raceAbort(turn.signal, generated);
  switch (result.outcome) {
    case 'aborted':
      generated.then(closeStream, ignore);
      return { kind: 'none', outcome: 'cancelled' };
    case 'failed':
      return noStream(errorMessage(result.error));
    case 'ok':
      if (isAsyncIterable(result.value)) return { kind: 'open', stream: result.value };
      return noStream(`the model returned ${describeValue(result.value)} instead of a stream`);
    default:
      return result satisfies never;
  }
}

const noStream = (message: string): Opened => ({
  kind: 'none',
  outcome: { error: { kind: 'generate', message } },
});

/** `async`, so that a throw of `generate` itself becomes a rejection. */
async function callModel(turn: Turn, request: ModelRequest): Promise<unknown> {
  return turn.seams.llm.generate(request, { signal: turn.signal });
}

/** What follows from a reply (L4). The last checkpoint of a step comes before its `done` event. */
async function decide(turn: Turn, { done, failure }: Reply): Promise<StepVerdict> {
  if (turn.cancelled) return end('cancelled');
  if (done === null) return end(failure ?? 'interrupted');
  const doneEvent = replyEvent(done.text, done.calls);
  if (done.calls.length === 0) {
    turn.record({ type: 'assistant_message', text: done.text }, doneEvent);
    return end(failure ?? 'completed');
  }
  turn.emit(doneEvent);
  if (failure !== null) return end(failure);
  await answerCalls(turn, done.calls);
  return { kind: 'continue' };
}
