import { AgentError, type LoopEvent, type TurnOutcome } from '@celestea/core';

import { Cancellation, ignore } from './cancel.ts';
import type { EventSink } from './events.ts';
import { Fifo } from './fifo.ts';

/**
 * Runs a turn that tells `sink` and is cancelled by the signal of `cancel`, which is made when
 * somebody looks at it.
 */
export type TurnStarter = (
  sink: EventSink,
  cancel: { readonly signal: AbortSignal },
) => Promise<TurnOutcome>;

type Pulled = IteratorResult<LoopEvent, undefined>;
type Waiter = (result: Pulled | Promise<Pulled>) => void;

const END: Pulled = { done: true, value: undefined };

/**
 * The events of a running turn, to be pulled with `for await` (X5). Events are kept until
 * they are read. Leaving the loop early cancels the turn and waits for its end. There is one
 * reader.
 *
 * Nobody has to look at `outcome`, and nobody has to iterate: both settle by themselves, and
 * neither makes an unhandled rejection.
 */
export class TurnStream implements AsyncIterable<LoopEvent> {
  /** How the turn ended; rejects when it could not start or a seam broke. */
  readonly outcome: Promise<TurnOutcome>;
  readonly #cancellation = new Cancellation();
  #events = new Fifo<LoopEvent>();
  readonly #waiters: Waiter[] = [];
  #settled = false;
  /** What to throw once every event was read; taken by the first who gets there. */
  #fault: { error: Error } | null = null;
  #taken = false;

  /** Starts the turn at once. */
  constructor(start: TurnStarter) {
    this.outcome = start(this.#push, this.#cancellation);
    this.outcome.then(
      () => {
        this.#settle(null);
      },
      (error: unknown) => {
        this.#settle({ error: error as Error }); // or anything else that a seam broke with
      },
    );
  }

  /** Cancels the turn; its events go on until its `turn_end`. May be handed on unbound. */
  readonly cancel = (reason?: unknown): void => {
    this.#cancellation.abort(reason);
  };

  /** @throws AgentError on a second call: events go to one reader. */
  [Symbol.asyncIterator](): AsyncIterator<LoopEvent, undefined> {
    if (this.#taken) throw new AgentError('a TurnStream has one reader, and it has one already');
    this.#taken = true;
    return {
      next: () => this.#next(),
      return: async () => {
        this.cancel();
        await this.outcome.then(ignore, ignore);
        this.#events = new Fifo();
        this.#fault = null;
        return END;
      },
    };
  }

  #next(): Promise<Pulled> {
    const event = this.#events.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (!this.#settled) return new Promise(this.#addWaiter);
    const fault = this.#fault;
    if (fault === null) return Promise.resolve(END);
    this.#fault = null;
    return Promise.reject(fault.error);
  }

  /** One for all promises: a closure for each is work a delta. */
  readonly #addWaiter = (resolve: Waiter): void => {
    this.#waiters.push(resolve);
  };

  readonly #push = (event: LoopEvent): void => {
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#events.push(event);
    else waiter({ done: false, value: event });
  };

  #settle(fault: { error: Error } | null): void {
    this.#settled = true;
    this.#fault = fault;
    for (const waiter of this.#waiters.splice(0)) waiter(this.#next());
  }
}
