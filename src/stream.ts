import { describeValue } from '@celestea/core';

import type { Breather } from './breather.ts';
import { closeIterator, ignore, unheard, type Cancellation, type Follower } from './cancel.ts';
import type { WaitLimit } from './timeouts.ts';

/** Why reading a stream ended. */
export type StreamEnd =
  | { kind: 'ended' }
  | { kind: 'stopped' }
  | { kind: 'cancelled' }
  | { kind: 'threw'; error: unknown }
  /** There was none to read: what was to give it failed, or gave something else. */
  | { kind: 'failed'; error: unknown }
  | { kind: 'none'; value: unknown };

/** Whether a value gives an async iterator; one that cannot be read gives none. */
function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  const stream = value as Partial<AsyncIterable<unknown>> | null | undefined;
  return typeof stream?.[Symbol.asyncIterator] === 'function';
}

/**
 * Reads the stream that `open` gives into `take` until it ends, throws, `take` says `false`, or it
 * is cancelled. Rejects with what `take` throws. The stream is closed on every early exit (L3.6),
 * also when it comes too late, and whatever it does after that goes unheard. `wait` limits each
 * wait, for the stream and for its next value (X13).
 */
export function readStream(
  open: () => unknown,
  cancellation: Cancellation,
  take: (value: unknown) => boolean,
  breather?: Breather,
  wait?: WaitLimit | null,
): Promise<StreamEnd> {
  return new StreamReader(cancellation, take, breather, wait).read(open);
}

/**
 * One listener a stream and a plain `await` a value, instead of a race a value: the cost of
 * being cancellable does not grow with the deltas (L6.4).
 */
class StreamReader implements Follower {
  readonly #cancellation: Cancellation;
  readonly #take: (value: unknown) => boolean;
  readonly #breather: Breather | undefined;
  readonly #wait: WaitLimit | null | undefined;
  #resolve: (end: StreamEnd) => void = ignore;
  #reject: (error: unknown) => void = ignore;
  #iterator: AsyncIterator<unknown> | null = null;
  #reading = true;
  #taking = false;
  #aborted = false;

  constructor(
    cancellation: Cancellation,
    take: (value: unknown) => boolean,
    breather: Breather | undefined,
    wait: WaitLimit | null | undefined,
  ) {
    this.#cancellation = cancellation;
    this.#take = take;
    this.#breather = breather;
    this.#wait = wait;
  }

  read(open: () => unknown): Promise<StreamEnd> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#cancellation.followers.add(this);
      if (this.#cancellation.aborted) this.abort();
      else void this.#readAll(open);
    });
  }

  /** Never rejects. After the end it may hang in a `next` that does not settle. */
  async #readAll(open: () => unknown): Promise<void> {
    let failure: 'failed' | 'threw' = 'failed';
    try {
      this.#wait?.begin();
      const value = await open();
      this.#wait?.pause();
      if (!isAsyncIterable(value)) {
        if (this.#reading) this.#finish({ kind: 'none', value });
        return;
      }
      failure = 'threw';
      const iterator = value[Symbol.asyncIterator]();
      unheard(iterator);
      if (this.#reading) this.#iterator = iterator;
      else closeIterator(iterator);
      while (this.#reading) {
        this.#wait?.begin();
        if (!this.#takeResult(await iterator.next())) return;
        // a stream that never waits would starve everything else in the process (X18)
        if (this.#breather?.isDue() === true) await this.#breather.rest();
      }
    } catch (error) {
      if (this.#reading) this.#finish({ kind: failure, error });
    }
  }

  /** It was cancelled. */
  abort(): void {
    this.#aborted = true;
    if (this.#taking) return; // from inside `take`: a throw of it still counts (L2.7)
    this.#finish({ kind: 'cancelled' });
    queueMicrotask(() => {
      this.#close(); // whose signal has aborted by then
    });
  }

  /** Whether to read on. */
  #takeResult(result: unknown): boolean {
    if (!this.#reading) return false;
    this.#wait?.pause();
    if (typeof result !== 'object' || result === null) {
      this.#close();
      throw new TypeError(`the stream gave ${describeValue(result)} instead of an iterator result`);
    }
    const { done, value } = result as { done?: unknown; value?: unknown };
    if (!done) return this.#takeValue(value);
    this.#finish({ kind: 'ended' });
    return false;
  }

  #takeValue(value: unknown): boolean {
    this.#taking = true;
    try {
      const more = this.#take(value);
      if (more && !this.#aborted) return true;
      this.#finish({ kind: more ? 'cancelled' : 'stopped' });
    } catch (error) {
      this.#stop();
      this.#reject(error);
    } finally {
      this.#taking = false;
    }
    this.#close();
    return false;
  }

  #close(): void {
    if (this.#iterator !== null) closeIterator(this.#iterator);
  }

  #finish(end: StreamEnd): void {
    this.#stop();
    this.#resolve(end);
  }

  #stop(): void {
    this.#reading = false;
    this.#cancellation.followers.delete(this);
  }
}
