import type { SseEventName } from '@celestea/core';

import { eventFrame } from './frames.ts';

/** An event that a ring takes. */
export interface RingEvent {
  readonly name: SseEventName;
  /** The turn it belongs to; `null` between turns. */
  readonly turn: string | null;
  readonly payload: object;
}

/** What a ring keeps. */
export interface EventRingOptions {
  /** Most bytes of frames; 4 MiB unless given. */
  readonly maxBytes?: number | undefined;
  /** Most events; 10,000 unless given. */
  readonly maxEvents?: number | undefined;
  /**
   * The first seq; 0 unless given. A session that had a ring before needs one beyond all that it
   * gave: a reader of the old one that comes back would miss what it cannot know of.
   */
  readonly startAt?: number | undefined;
}

const encoder = new TextEncoder();

/**
 * The latest events of a session, numbered, for readers that come back. Within `maxBytes` and
 * `maxEvents` all are kept, then the oldest goes first; the newest is always kept, however
 * large it is. Each is kept as the bytes of its frame, which all readers share.
 */
export class EventRing {
  /** The session that the envelopes name. */
  readonly session: string;
  readonly #maxBytes: number;
  readonly #maxEvents: number;
  /** By seq, without a gap. */
  readonly #frames = new Map<number, Uint8Array>();
  #bytes = 0;
  #lastSeq: number;
  readonly #listeners = new Set<() => void>();

  constructor(session: string, options: EventRingOptions = {}) {
    const { maxBytes = 4 * 1024 * 1024, maxEvents = 10_000, startAt = 0 } = options;
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
    return this.#lastSeq - this.#frames.size + 1;
  }

  /** Gives an event the next seq, keeps it and tells every listener before it returns. */
  append({ name, turn, payload }: RingEvent): void {
    const seq = this.#lastSeq + 1;
    const text = eventFrame({ id: seq, name, session: this.session, turn, seq, payload });
    this.#keep(seq, encoder.encode(text));
    for (const tell of [...this.#listeners]) tell();
  }

  /** The frame of that seq; `undefined` when it is not kept. */
  frame(seq: number): Uint8Array | undefined {
    return this.#frames.get(seq);
  }

  /** Whether all that came after that seq is kept; never for a seq that was not given yet. */
  holdsAfter(seq: number): boolean {
    return seq >= this.firstSeq - 1 && seq <= this.#lastSeq;
  }

  /** Tells `listener`, which must not throw, of every event from now on, until it is let go of. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #keep(seq: number, frame: Uint8Array): void {
    this.#lastSeq = seq;
    this.#frames.set(seq, frame);
    this.#bytes += frame.length;
    for (const [oldest, { length }] of this.#frames) {
      const fits = this.#bytes <= this.#maxBytes && this.#frames.size <= this.#maxEvents;
      if (fits || oldest === seq) return;
      this.#frames.delete(oldest);
      this.#bytes -= length;
    }
  }
}
