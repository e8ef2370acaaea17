import { describeValue } from '@celestea/core';

import type { Breather } from './breather.ts';
import { closeIterator, ignore, unheard } from './cancel.ts';
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

/** Whether a value is an object that gives an async iterator; one that cannot be read is none. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  try {
    return (
      typeof value === 'object' &&
      value !== null &&
      Symbol.asyncIterator in value &&
      typeof value[Symbol.asyncIterator] === 'function'
    );
  } catch {
    return false;
  }
}

/** Closes a stream that nobody will read (L3.6). */
export function closeStream(stream: unknown): void {
  try {
    if (isAsyncIterable(stream)) closeIterator(stream[Symbol.asyncIterator]());
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
 * One listener a stream and one callback a value, instead of a race a value: the cost of
 * being cancellable does not grow with the deltas (L6.4).
 */
class StreamReader {
  readonly #iterator: AsyncIterator<unknown>;
  readonly #signal: AbortSignal;
  readonly #take: (value: unknown) => boolean;
  readonly #breather: Breather | null;
  readonly #wait: WaitLimit | null;
  #resolve: (end: StreamEnd) => void = ignore;
  #reject: (error: unknown) => void = ignore;
  #reading = true;
  #taking = false;

  constructor(
    iterator: AsyncIterator<unknown>,
    signal: AbortSignal,
    take: (value: unknown) => boolean,
    { breather = null, wait = null }: StreamPace,
  ) {
    this.#iterator = iterator;
    this.#signal = signal;
    this.#take = take;
    this.#breather = breather;
    this.#wait = wait;
  }

  read(): Promise<StreamEnd> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#signal.addEventListener('abort', this.#onAbort);
      if (this.#signal.aborted) this.#onAbort();
      else this.#pull();
    });
  }

  readonly #onAbort = (): void => {
    if (this.#taking) return; // from inside `take`: a throw of it still counts (L2.7)
    this.#finish({ kind: 'cancelled' });
    closeIterator(this.#iterator);
  };

  readonly #onThrow = (error: unknown): void => {
    if (this.#reading) this.#finish({ kind: 'threw', error });
  };

  readonly #onNext = (result: unknown): void => {
    if (!this.#reading) return;
    this.#wait?.pause();
    let done: unknown;
    let value: unknown;
    try {
      ({ done, value } = readResult(result));
    } catch (error) {
      closeIterator(this.#iterator);
      this.#onThrow(error);
      return;
    }
    if (done) this.#finish({ kind: 'ended' });
    else if (this.#taken(value)) this.#pullWhenRested();
  };

  /** Whether to read on. */
  #taken(value: unknown): boolean {
    this.#taking = true;
    try {
      const more = this.#take(value);
      if (more && !this.#signal.aborted) return true;
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

  /** A stream that never waits would starve everything else in the process (X18). */
  #pullWhenRested(): void {
    if (this.#breather?.isDue() !== true) {
      this.#pull();
      return;
    }
    void this.#breather.rest().then(() => {
      if (this.#reading) this.#pull();
    });
  }

  #pull(): void {
    this.#wait?.begin();
    try {
      const next: unknown = this.#iterator.next();
      const settled = next instanceof Promise ? next : Promise.resolve(next);
      settled.then(this.#onNext, this.#onThrow);
    } catch (error) {
      this.#onThrow(error);
    }
  }

  #finish(end: StreamEnd): void {
    this.#stop();
    this.#resolve(end);
  }

  #stop(): void {
    this.#reading = false;
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

/** As `for await` does, with a message that says who is at fault. */
function readResult(result: unknown): { done?: unknown; value?: unknown } {
  if (typeof result === 'object' && result !== null) return result;
  throw new TypeError(`the stream gave ${describeValue(result)} instead of an iterator result`);
}
