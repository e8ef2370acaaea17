import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { LlmError, StreamEvent } from '@celestea/core';

import { ignore } from '../hook.ts';
import type { ReplyTranslator } from './reply-parts.ts';
import type { RequestWait } from './request-wait.ts';

/** Milliseconds a provider has to close a stream that is over, so that its connection is kept. */
const CLOSING_MS = 1000;

/** What a {@link PartStream} is made of. */
export interface PartStreamParts {
  readonly stream: ReadableStream<LanguageModelV3StreamPart>;
  readonly wait: RequestWait;
  readonly translator: ReplyTranslator;
  /** Milliseconds; 0 for no limit. */
  readonly idleMs: number;
  /** Gives a provider's error its class. */
  readonly failure: (error: unknown) => LlmError;
}

/** The events of one reply. Leaving the iteration early ends the request. */
export class PartStream implements AsyncIterableIterator<StreamEvent> {
  readonly #reader: ReadableStreamDefaultReader<LanguageModelV3StreamPart>;
  readonly #parts: PartStreamParts;
  #ready: StreamEvent[] = [];
  /** The read that was asked for last: the next one waits for it. */
  #last: Promise<unknown> = Promise.resolve();
  /** Thrown once what is ready was read. */
  #failure: { readonly error: unknown } | null = null;
  /** `finished`: its end was read; `ended`: it failed or was left. */
  #state: 'open' | 'finished' | 'ended' = 'open';

  constructor(parts: PartStreamParts) {
    this.#parts = parts;
    this.#reader = parts.stream.getReader();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<StreamEvent, undefined>> {
    const result = this.#last.then(() => this.#next());
    this.#last = result.catch(ignore);
    return result;
  }

  return(): Promise<IteratorResult<StreamEvent, undefined>> {
    this.#ready = [];
    this.#failure = null;
    if (this.#state === 'open') this.#giveUp();
    return Promise.resolve({ done: true, value: undefined });
  }

  async #next(): Promise<IteratorResult<StreamEvent, undefined>> {
    for (;;) {
      const event = this.#ready.shift();
      if (event !== undefined) return { done: false, value: event };
      if (this.#failure !== null) {
        const { error } = this.#failure;
        this.#failure = null;
        throw error;
      }
      if (this.#state !== 'open') return { done: true, value: undefined };
      await this.#readPart();
    }
  }

  async #readPart(): Promise<void> {
    const { wait, translator, idleMs, failure } = this.#parts;
    try {
      // behind an error there is no more than what the request cost
      const limitMs = translator.error === null ? idleMs : CLOSING_MS;
      const { done, value } = await wait.for(this.#reader.read(), 'idle', limitMs);
      if (done) throw translator.torn();
      this.#ready = translator.take(value);
      if (value.type !== 'finish') return;
      this.#close();
      this.#ready.push(...translator.done(value));
    } catch (error) {
      if (this.#state === 'ended') return; // left meanwhile
      if (this.#state === 'open') this.#giveUp();
      // what the provider told comes before how its stream ended
      const told = (thrown: unknown): LlmError => translator.error ?? failure(thrown);
      this.#failure = { error: wait.reasonFor(error, told) };
    }
  }

  /** Ends the request wherever it is. */
  #giveUp(): void {
    this.#state = 'ended';
    const reason = new DOMException('the reply is not read any further', 'AbortError');
    this.#parts.wait.stop(reason);
    this.#reader.cancel(reason).catch(ignore);
  }

  /** Lets a reply that is over run out, which keeps the connection for the next one. */
  #close(): void {
    this.#state = 'finished';
    this.#parts.wait.release();
    const timer = setTimeout(() => {
      this.#reader.cancel().catch(ignore);
    }, CLOSING_MS);
    if (typeof timer === 'object') timer.unref();
    void this.#runOut().finally(() => {
      clearTimeout(timer);
      this.#parts.wait.stop(new DOMException('the reply is over', 'AbortError'));
    });
  }

  async #runOut(): Promise<void> {
    try {
      let isOver = false;
      while (!isOver) isOver = (await this.#reader.read()).done;
    } catch {
      // what breaks after the end of a reply is of no account
    }
  }
}
