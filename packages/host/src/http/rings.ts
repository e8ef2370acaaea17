import { EventRing, type EventRingOptions } from '../events/index.ts';

/** How many rings are kept that nobody needs just now. */
const MAX_IDLE = 64;

interface Kept {
  readonly ring: EventRing;
  readers: number;
}

/** The rings of all sessions. Of those that nobody reads or writes only the last used are kept. */
export class Rings {
  readonly #options: EventRingOptions;
  readonly #isOpen: (id: string) => boolean;
  readonly #maxIdle: number;
  /** Least recently used first. */
  readonly #kept = new Map<string, Kept>();

  /** `isOpen` says whether a session may still publish. */
  constructor(options: EventRingOptions, isOpen: (id: string) => boolean, maxIdle?: number) {
    this.#options = options;
    this.#isOpen = isOpen;
    this.#maxIdle = maxIdle ?? MAX_IDLE;
  }

  /** The ring of a session, made when there is none. */
  of(id: string): EventRing {
    return this.#use(id).ring;
  }

  /** The seq of the last event of a session; its next event is the one after that. */
  lastSeq(id: string): number {
    return this.of(id).lastSeq;
  }

  /** Keeps the ring until the function that comes back is called, once. */
  hold(id: string): () => void {
    const kept = this.#use(id);
    kept.readers += 1;
    return () => {
      kept.readers -= 1;
    };
  }

  #use(id: string): Kept {
    const known = this.#kept.get(id);
    const kept = known ?? { ring: this.#newRing(id), readers: 0 };
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    if (known === undefined) this.#dropSurplus(id); // each event comes by here
    return kept;
  }

  /** No session has a thousand events a millisecond, so this is beyond all that a former ring gave. */
  #newRing(id: string): EventRing {
    return new EventRing(id, { ...this.#options, startAt: Date.now() * 1000 });
  }

  #dropSurplus(used: string): void {
    if (this.#kept.size <= this.#maxIdle) return;
    const idle = [...this.#kept].filter(
      ([id, { readers }]) => id !== used && readers === 0 && !this.#isOpen(id),
    );
    for (const [id] of idle.slice(0, this.#kept.size - this.#maxIdle)) this.#kept.delete(id);
  }
}
