import {
  LlmError,
  type Content,
  type GenerateOptions,
  type Llm,
  type LlmStream,
  type ModelRequest,
  type StreamEvent,
} from '@celestea/core';
import type { LlmContractAnswer, LlmContractReply } from '@celestea/core/contracts';

/** A well-behaved Llm whose model is a list of replies. It needs no timer. */
export class ArrangedLlm implements Llm {
  readonly replies: readonly LlmContractReply[];
  asked = 0;
  /** Replies that are being played. */
  playing = 0;
  readonly #listening = new Map<() => void, AbortSignal>();

  constructor(replies: readonly LlmContractReply[]) {
    this.replies = replies;
  }

  async generate(request: ModelRequest, { signal }: GenerateOptions = {}): Promise<LlmStream> {
    const reply = this.replies[this.asked];
    this.asked += 1;
    if (reply === undefined) throw new Error(`no reply for another ${request.model}`);
    signal?.throwIfAborted();
    if (reply.ends === 'refused') {
      const { message, httpStatus, retryable } = reply;
      await Promise.resolve();
      throw new LlmError(`the provider says: ${message}`, 'generate', { httpStatus, retryable });
    }
    return this.#play(reply, signal);
  }

  /** Listens for the abort until what it gives is called. */
  listen(signal: AbortSignal, onAbort: () => void, once = false): () => void {
    this.#listening.set(onAbort, signal);
    signal.addEventListener('abort', onAbort, { once });
    return () => {
      this.#listening.delete(onAbort);
      signal.removeEventListener('abort', onAbort);
    };
  }

  /** Takes off every listener that is left. */
  free(): void {
    for (const [onAbort, signal] of this.#listening) signal.removeEventListener('abort', onAbort);
  }

  async *#play(
    reply: Exclude<LlmContractReply, { ends: 'refused' }>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<StreamEvent> {
    this.playing += 1;
    try {
      if (reply.ends === 'done' && reply.thinking !== null) {
        yield { kind: 'thinking', ...reply.thinking };
      }
      for (const text of reply.pieces) {
        await Promise.resolve(); // replies that are asked for at once take turns
        yield { kind: 'text', text };
      }
      if (reply.ends === 'done') yield* ending(reply);
      else if (reply.ends === 'never') await this.#silence(signal);
      else throw new LlmError('the connection was cut', 'stream', { retryable: true });
    } finally {
      this.playing -= 1;
    }
  }

  #silence(signal: AbortSignal | undefined): Promise<never> {
    return new Promise((_, reject) => {
      if (signal === undefined) return;
      signal.throwIfAborted();
      const stop = this.listen(signal, () => {
        stop();
        reject(signal.reason as Error);
      });
    });
  }
}

function* ending({ pieces, calls, finish, usage }: LlmContractAnswer): Generator<StreamEvent> {
  if (usage !== null) yield { kind: 'usage', usage };
  const content: Content[] = [
    { type: 'text', content: pieces.join('') },
    ...calls.map((call): Content => ({ type: 'tool_call', content: structuredClone(call) })),
  ];
  yield { kind: 'done', finish, message: { role: 'assistant', content, tool_call_id: null } };
}
