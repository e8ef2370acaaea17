import { describeValue, type ModelRequest, type TurnOutcome } from '@celestea/core';

import { ignore, raceAbort } from './cancel.ts';
import { failureText } from './failure-text.ts';
import { generateFailure, idleFailure, readReply, type Reply } from './reply.ts';
import { closeStream, isAsyncIterable } from './stream.ts';
import { activeLimit, WaitLimit } from './timeouts.ts';
import type { Turn } from './turn.ts';

/**
 * Asks the model and reads its reply. Whatever the model does wrong is in the reply (L2.6);
 * only a log that breaks meanwhile throws.
 */
export async function callModel(turn: Turn, request: ModelRequest): Promise<Reply> {
  const idleMs = activeLimit(turn.options.timeouts?.streamIdleMs);
  const wait = idleMs === null ? null : new WaitLimit(turn.signal, idleMs);
  const signal = wait?.signal ?? turn.signal;
  try {
    wait?.begin();
    const generated = generate(turn, request, signal);
    const opened = await raceAbort(signal, generated);
    wait?.pause();
    switch (opened.outcome) {
      case 'aborted':
        generated.then(closeStream, ignore);
        return noReply(idleFailure(wait) ?? 'cancelled');
      case 'failed':
        turn.diagnose('model_failed', 'the model gave no stream', opened.error);
        return noReply(generateFailure(failureText(opened.error)));
      case 'ok':
        if (isAsyncIterable(opened.value)) {
          return await readReply(turn, opened.value, signal, wait);
        }
        return noReply(
          generateFailure(`the model returned ${describeValue(opened.value)} instead of a stream`),
        );
      default:
        return opened satisfies never;
    }
  } finally {
    wait?.stop();
  }
}

/** `async`, so that a throw of `generate` itself becomes a rejection. */
async function generate(turn: Turn, request: ModelRequest, signal: AbortSignal): Promise<unknown> {
  return turn.seams.llm.generate(request, { signal });
}

const noReply = (failure: TurnOutcome): Reply => ({ done: null, failure });
