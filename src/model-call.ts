import { describeValue, type ModelRequest, type TurnOutcome } from '@celestea/core';

import { ignore, raceCancel, type Cancellation } from './cancel.ts';
import { failureText } from './failure-text.ts';
import { generateFailure, idleFailure, ReplyReader, type Reply } from './reply.ts';
import { closeStream, isAsyncIterable, readStream } from './stream.ts';
import { activeLimit, WaitLimit } from './timeouts.ts';
import type { Turn } from './turn.ts';

/**
 * Asks the model and reads its reply. Whatever the model does wrong is in the reply (L2.6);
 * only a log that breaks meanwhile throws.
 */
export async function callModel(turn: Turn, request: ModelRequest): Promise<Reply> {
  const idleMs = activeLimit(turn.options.timeouts?.streamIdleMs);
  const wait = idleMs === null ? null : new WaitLimit(turn.cancellation, idleMs);
  const cancellation = wait ?? turn.cancellation;
  try {
    wait?.begin();
    const generated = generate(turn, request, cancellation);
    const opened = await raceCancel(cancellation, generated);
    wait?.pause();
    switch (opened.outcome) {
      case 'aborted':
        generated.then(closeStream, ignore);
        return noReply(idleFailure(wait) ?? 'cancelled');
      case 'failed':
        turn.diagnose('model_failed', 'the model gave no stream', opened.error);
        return noReply(generateFailure(failureText(opened.error)));
      case 'ok': {
        const { value } = opened;
        if (!isAsyncIterable(value)) {
          const came = describeValue(value);
          return noReply(generateFailure(`the model returned ${came} instead of a stream`));
        }
        const reader = new ReplyReader(turn);
        const end = await readStream(value, cancellation, reader.take, turn.breather, wait);
        return reader.ended(end, wait);
      }
      default:
        return opened satisfies never;
    }
  } finally {
    wait?.stop();
  }
}

/** `async`, so that a throw of `generate` itself becomes a rejection. */
async function generate(
  turn: Turn,
  request: ModelRequest,
  cancellation: Cancellation,
): Promise<unknown> {
  return turn.seams.llm.generate(request, cancellation.options);
}

const noReply = (failure: TurnOutcome): Reply => ({ done: null, failure });
