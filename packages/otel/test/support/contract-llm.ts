import { done, ScriptedLlm, think, thinkSigned, type Script } from '@celestea/agent-loop/testing';
import { LlmError, type StreamEvent } from '@celestea/core';
import type { LlmContractReply, LlmUnderTest } from '@celestea/core/contracts';

/** A model that does what the contract arranges, with a signal that its scripts heed. */
export function contractLlm(replies: readonly LlmContractReply[]): LlmUnderTest {
  const llm: ScriptedLlm = new ScriptedLlm(
    replies.map((reply, index) => scriptOf(reply, () => llm.signals[index])),
  );
  return { llm };
}

type SignalOf = () => AbortSignal | undefined;

function scriptOf(reply: LlmContractReply, signal: SignalOf): Script {
  switch (reply.ends) {
    case 'done': {
      const { thinking, pieces, calls, finish, usage } = reply;
      const { text = '', meta } = thinking ?? {};
      const thought = meta === undefined ? think(text) : thinkSigned(text, meta);
      const end = done(pieces.join(''), ...calls);
      return [
        () => signal()?.throwIfAborted(),
        ...(thinking === null ? [] : [thought]),
        ...words(pieces),
        end.kind === 'done' ? { ...end, finish } : end,
        ...(usage === null ? [] : [{ kind: 'usage', usage } as const]),
      ];
    }
    case 'refused':
      return [() => Promise.reject(new LlmError(reply.message, 'generate', reply))];
    case 'torn': {
      const error = new LlmError('the connection was cut', 'stream', { retryable: true });
      return [...words(reply.pieces), () => Promise.reject(error)];
    }
    case 'never':
      return [...words(reply.pieces), () => untilAborted(signal())];
    default:
      return reply satisfies never;
  }
}

const words = (pieces: readonly string[]): StreamEvent[] =>
  pieces.map((text) => ({ kind: 'text', text }));

const untilAborted = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => {
      reject(signal?.reason as Error);
    };
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
