import { describeValue } from '@celestea/core';

import type { Breather } from './breather.ts';
import { closeIterator, follow, ignore, unheard } from './cancel.ts';
import type { WaitLimit } from './timeouts.ts';

/** Why reading a stream ended. */
export type StreamEnd =
  { kind: 'ended' } | { kind: 'stopped' } | { kind: 'cancelled' } | { kind: 'threw'; error: unknown };

/** What else a stream's reader minds between two values. */
export interface StreamPace {
  breather?: Breather | null;
  /** Limits each wait for the next value (X13). */
  wait?: WaitLimit | null;
}

/** Whether a value gives an async iterator; one that cannot be read gives none. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  try {
    const stream = value as Partial<AsyncIterable<unknown>> | null | undefined;
    return typeof stream?.[Symbol.asyncIterator] === 'function';
  } catch {
    return false;
  }
}

/** Closes a stream that nobody will read (L3.6). */
export function closeStream(stream: unknown): void {
  try {
    closeIterator((stream as AsyncIterable<unknown>)[Symbol.asyncIterator]());
  } catch {
    // a stream that cannot be opened need not be closed
  }
}

/**
 * Reads a stream into `take` until it ends, throws, `take` says `false`, or the signal fires.
 * Rejects with what `take` throws. The stream is closed on every early exit (L3.6), and
 * whatever it does after that goes unheard.
 */
export function readStream(
  stream: AsyncIterable<unknown>,
  signal: AbortSignal,
  take: (value: unknown) => boolean,
  pace: StreamPace = {},
): Promise<StreamEnd> {
  let iterator: AsyncIterator<unknown>;
  try {
    iterator = stream[Symbol.asyncIterator]();
    unheard(iterator);
  } catch (error) {
    return Promise.resolve({ kind: 'threw', error });
  }
  return new StreamReader(iterator, signal, take, pace).read();
}

/**
 * One listener a stream and a plain `await` a value, instead of a race a value: the cost of
 * being cancellable does not grow with the deltas (L6.4).
 */
class StreamReader {
  readonly #iterator: AsyncIterator<unknown>;
  readonly #signal: AbortSignal;
  readonly #take: (value: unknown) => boolean;
  readonly #pace: StreamPace;
  #resolve: (end: StreamEnd) => void = ignore;
  #reject: (error: unknown) => void = ignore;
  #leave: () => void = ignore;
  #reading = true;
  #taking = false;
  #aborted = false;

  constructor(
    iterator: AsyncIterator<unknown>,
    signal: AbortSignal,
    take: (value: unknown) => boolean,
    pace: StreamPace,
  ) {
    this.#iterator = iterator;
    this.#signal = signal;
    this.#take = take;
    this.#pace = pace;
  }

  read(): Promise<StreamEnd> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#leave = follow(this.#signal, this.#onAbort);
      if (this.#signal.aborted) this.#onAbort();
      else void this.#readAll();
    });
  }

  /** Never rejects. After the end it may hang in a `next` that does not settle. */
  async #readAll(): Promise<void> {
    try {
      while (this.#reading) {
        this.#pace.wait?.begin();
        if (!this.#takeResult(await this.#iterator.next())) return;
        // a stream that never waits would starve everything else in the process (X18)
        if (this.#pace.breather?.isDue() === true) await this.#pace.breather.rest();
      }
    } catch (error) {
      if (this.#reading) this.#finish({ kind: 'threw', error });
    }
  }

  readonly #onAbort = (): void => {
    this.#aborted = true;
    if (this.#taking) return; // from inside `take`: a throw of it still counts (L2.7)
    this.#finish({ kind: 'cancelled' });
    closeIterator(this.#iterator);
  };

  /** Whether to read on. */
  #takeResult(result: unknown): boolean {
    if (!this.#reading) return false;
    this.#pace.wait?.pause();
    let done: unknown;
    let value: unknown;
    try {
      ({ done, value } = readResult(result));
    } catch (error) {
      closeIterator(this.#iterator);
      throw error;
    }
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
    closeIterator(this.#iterator);
    return false;
  }

  #finish(end: StreamEnd): void {
    this.#stop();
    this.#resolve(end);
  }

  #stop(): void {
    this.#reading = false;
    this.#leave();
  }
}

/** As `for await` does, with a message that says who is at fault. */
function readResult(result: unknown): { done?: unknown; value?: unknown } {
  if (typeof result === 'object' && result !== null) return result;
  throw new TypeError(`the stream gave ${describeValue(result)} instead of an iterator result`);
}
