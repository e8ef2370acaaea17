import { expectThat, isRecord, utf8Length, type SseEventName } from '@celestea/core';

import { expectName, expectWhole } from './checks.ts';
import { envelopeText, recordText } from './envelope.ts';
import type { HostEvent } from './host-event.ts';

/** An event of a session in its envelope. Frozen, and shared by all who read it. */
export interface StoredEvent {
  /** Its place in the session. */
  readonly seq: number;
  readonly name: SseEventName;
  /** The envelope of `contracts/sse-events.json`: JSON text on one line. */
  readonly data: string;
  /** UTF-8 bytes of `data`. */
  readonly bytes: number;
}

/** What a ring keeps. */
export interface EventRingOptions {
  /** Most UTF-8 bytes of data; 4 MiB unless given. */
  readonly maxBytes?: number | undefined;
  /** Most events; 10,000 unless given. */
  readonly maxEvents?: number | undefined;
  /**
   * The first seq; 0 unless given. A session that had a ring before needs one beyond all that it
   * gave: a reader of the old one that comes back would miss what it cannot know of.
   */
  readonly startAt?: number | undefined;
}

/** Hears of every event as it is appended. What it throws, or rejects with, disturbs nobody. */
export type EventListener = (event: StoredEvent) => unknown;

interface Subscription {
  readonly listener: EventListener;
  isOver: boolean;
}

interface Delivery {
  readonly event: StoredEvent;
  readonly to: readonly Subscription[];
}

/**
 * The latest events of a session, numbered, for readers that come back. Within `maxBytes` and
 * `maxEvents` all are kept, then the oldest goes first; the newest is always kept, however
 * large it is.
 */
export class EventRing {
  /** The session that the envelopes name. */
  readonly session: string;
  readonly #maxBytes: number;
  readonly #maxEvents: number;
  /** By seq, without a gap. */
  readonly #events = new Map<number, StoredEvent>();
  #bytes = 0;
  #lastSeq: number;
  /** Replaced, never changed: a delivery holds on to the ones of its moment. */
  #subscriptions: readonly Subscription[] = [];
  readonly #deliveries: Delivery[] = [];

  /** @throws TypeError unless `session` is a text that is not empty, and each limit at least 1. */
  constructor(session: string, options: EventRingOptions = {}) {
    const isText = typeof session === 'string' && session !== '';
    expectThat(isText, 'session', 'a text that is not empty', session);
    expectThat(isRecord(options), 'options', 'an object', options);
    const { maxBytes = 4 * 1024 * 1024, maxEvents = 10_000, startAt = 0 } = options;
    expectWhole(maxBytes, 'options.maxBytes', 1);
    expectWhole(maxEvents, 'options.maxEvents', 1);
    expectWhole(startAt, 'options.startAt', 0);
    this.session = session;
    this.#maxBytes = maxBytes;
    this.#maxEvents = maxEvents;
    this.#lastSeq = startAt - 1;
  }

  /** The seq of the latest event; one less than the first there will be, before there is any. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** The seq of the oldest event that is kept, or of the first there will be. */
  get firstSeq(): number {
    return this.#lastSeq - this.#events.size + 1;
  }

  /**
   * Gives an event the next seq, keeps it and tells every subscriber before it returns. An
   * append from within a listener is told once all have heard of the event before it.
   *
   * Whatever the payload is, it is written: what JSON has no word for as `null` (see
   * `serdeJsonString`), and as `{}` when it comes to no object or to more than 64 Mi UTF-16
   * units.
   *
   * @throws TypeError when the name is not of the contract's, or the turn no text and not null.
   */
  append(event: HostEvent): StoredEvent {
    expectThat(isRecord(event), 'event', 'an object', event);
    const { name, turn, payload } = event;
    expectName(name, 'event.name');
    expectThat(turn === null || typeof turn === 'string', 'event.turn', 'a text or null', turn);
    // First the payload: code of its own (a getter, toJSON) may append, too.
    const text = recordText(payload) ?? '{}';
    const seq = this.#lastSeq + 1;
    const data = envelopeText(this.session, turn, seq, text);
    const stored = Object.freeze({ seq, name, data, bytes: utf8Length(data) });
    this.#keep(stored);
    this.#tell(stored);
    return stored;
  }

  /** The event of that seq; `undefined` when it is not kept. */
  get(seq: number): StoredEvent | undefined {
    return this.#events.get(seq);
  }

  /** Whether all that came after that seq is kept; never for a seq that was not given yet. */
  holdsAfter(seq: number): boolean {
    return seq >= this.firstSeq - 1 && seq <= this.#lastSeq;
  }

  /**
   * What came after that seq, oldest first; from the first event on for −1. `null` when not all
   * of it is kept any more, and for a seq that this ring has not given yet.
   *
   * @throws TypeError unless `seq` is a whole number.
   */
  after(seq: number): readonly StoredEvent[] | null {
    expectWhole(seq, 'seq', Number.MIN_SAFE_INTEGER);
    if (!this.holdsAfter(seq)) return null;
    if (seq < this.firstSeq) return [...this.#events.values()];
    const events: StoredEvent[] = [];
    for (let at = this.#events.get(seq + 1); at !== undefined; at = this.#events.get(at.seq + 1)) {
      events.push(at);
    }
    return events;
  }

  /**
   * Tells `listener` of every event from now on, until the function that comes back is called.
   *
   * @throws TypeError unless `listener` is a function.
   */
  subscribe(listener: EventListener): () => void {
    expectThat(typeof listener === 'function', 'listener', 'a function', listener);
    const subscription: Subscription = { listener, isOver: false };
    this.#subscriptions = [...this.#subscriptions, subscription];
    return () => {
      subscription.isOver = true;
      this.#subscriptions = this.#subscriptions.filter((other) => other !== subscription);
    };
  }

  #keep(event: StoredEvent): void {
    this.#lastSeq = event.seq;
    this.#events.set(event.seq, event);
    this.#bytes += event.bytes;
    for (const [seq, { bytes }] of this.#events) {
      const fits = this.#bytes <= this.#maxBytes && this.#events.size <= this.#maxEvents;
      if (fits || seq === event.seq) return;
      this.#events.delete(seq);
      this.#bytes -= bytes;
    }
  }

  #tell(event: StoredEvent): void {
    this.#deliveries.push({ event, to: this.#subscriptions });
    if (this.#deliveries.length > 1) return; // whoever is telling comes to it
    for (let next = this.#deliveries[0]; next !== undefined; next = this.#deliveries[0]) {
      for (const subscription of next.to) call(subscription, next.event);
      this.#deliveries.shift();
    }
  }
}

function call({ listener, isOver }: Subscription, event: StoredEvent): void {
  if (isOver) return;
  try {
    const answer = listener(event);
    if (answer instanceof Promise) answer.catch(ignore);
  } catch {
    // the others hear of it all the same
  }
}

function ignore(): void {
  // a listener's fault is its own
}
