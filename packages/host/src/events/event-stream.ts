import type { WireNow } from '../wire.ts';
import { eventFrame, HEARTBEAT, retryFrame } from './frames.ts';
import type { EventRing } from './ring.ts';

/** How a reader is served. */
export interface EventStreamOptions {
  /** The seq it saw last, −1 to begin with the first; `null`: only what comes from now on. */
  readonly lastEventId: number | null;
  /** A comment is sent when a reader waited this long, in milliseconds. */
  readonly heartbeatMs: number;
  /** Said first: the milliseconds to wait before connecting again. */
  readonly retryMs: number;
  /** What a reader that fell behind has to know. */
  readonly snapshot: () => WireNow;
  /**
   * Told when the stream begins; `close` ends it. What comes back is called once when it is over,
   * whoever ended it.
   */
  readonly join: (close: () => void) => () => void;
}

/** Frames are sent together up to this many bytes: many small ones cost what one costs. */
const BATCH_BYTES = 64 * 1024;

/** A seq after which no ring holds all. */
const LOST = -2;

const encoder = new TextEncoder();

/**
 * The events of a ring as server-sent events: first what the reader missed, then what comes,
 * each once and in order.
 *
 * A reader is a place in the ring; nothing is queued for it. While it does not read, one chunk is
 * in flight, of 64 KiB or of one event that is larger, and the ring goes on without it. When it
 * reads again and the ring holds no longer all it missed, it gets a `status` event with the
 * payload `{ phase: 'lagged', snapshot }`, numbered as the ring's latest event, and goes on from
 * there. (Before the first event there is no such number: the frame then has no id, and its
 * envelope says 0.)
 *
 * The stream ends when it is cancelled or closed, and leaves nothing behind.
 */
export function eventStream(
  ring: EventRing,
  options: EventStreamOptions,
): ReadableStream<Uint8Array> {
  const reader = new RingReader(ring, options);
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        reader.start(controller);
      },
      pull: () => reader.send(),
      cancel: () => {
        reader.end();
      },
    },
    { highWaterMark: 0 }, // nothing is made before it is asked for
  );
}

/** One reader's place in a ring. */
class RingReader {
  readonly #ring: EventRing;
  readonly #options: EventStreamOptions;
  /** The seq of the latest event that was sent. */
  #cursor: number;
  #isFirst = true;
  #isOver = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #leave: () => void = () => undefined;
  /** Ends the wait of a `send`, with what is to be sent. */
  #wake: (chunk: Uint8Array | null) => void = () => undefined;

  constructor(ring: EventRing, options: EventStreamOptions) {
    const seq = options.lastEventId ?? ring.lastSeq;
    this.#ring = ring;
    this.#options = options;
    // Judged here: the ring may come to give the numbers of another life before the first read.
    this.#cursor = ring.holdsAfter(seq) ? seq : LOST;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    const unsubscribe = this.#ring.subscribe(() => {
      this.#wake(null);
    });
    const leave = this.#options.join(this.#close);
    this.#leave = () => {
      unsubscribe();
      leave();
    };
    if (this.#isOver) this.#leave(); // closed while it joined
  }

  /** Sends one chunk, as soon as there is one. */
  async send(): Promise<void> {
    while (!this.#isOver) {
      const chunk = this.#next() ?? (await this.#quiet());
      if (chunk === null || this.#hasEnded()) continue;
      this.#controller?.enqueue(chunk);
      return;
    }
  }

  end(): void {
    this.#isOver = true;
    this.#leave();
    this.#wake(null);
  }

  readonly #close = (): void => {
    if (this.#isOver) return;
    this.end();
    this.#controller?.close();
  };

  /** A function, since what runs in between may end the stream. */
  #hasEnded(): boolean {
    return this.#isOver;
  }

  /** What is to be sent now; `null` when there is nothing. */
  #next(): Uint8Array | null {
    if (this.#isFirst) {
      this.#isFirst = false;
      return encoder.encode(retryFrame(this.#options.retryMs));
    }
    return this.#ring.holdsAfter(this.#cursor) ? this.#batch() : this.#lagged();
  }

  /** As many frames as go together, or a large one. */
  #batch(): Uint8Array | null {
    const frames: Uint8Array[] = [];
    let bytes = 0;
    for (let next = this.#following(); next !== undefined; next = this.#following()) {
      bytes += next.length;
      if (bytes > BATCH_BYTES && frames.length > 0) break;
      frames.push(next);
      this.#cursor += 1;
    }
    const [first = null] = frames;
    return frames.length > 1 ? Buffer.concat(frames) : first;
  }

  #following(): Uint8Array | undefined {
    return this.#ring.frame(this.#cursor + 1);
  }

  #lagged(): Uint8Array {
    const { session, lastSeq } = this.#ring; // before the snapshot: nothing can fall in between
    this.#cursor = lastSeq;
    const payload = { phase: 'lagged', snapshot: this.#options.snapshot() };
    const seq = Math.max(lastSeq, 0);
    const id = lastSeq < 0 ? null : lastSeq;
    return encoder.encode(eventFrame({ id, name: 'status', session, turn: null, seq, payload }));
  }

  /** Waits for an event, the end, or the time of a heartbeat, which then is what comes. */
  #quiet(): Promise<Uint8Array | null> {
    return new Promise((resolve) => {
      const beat = (): void => {
        this.#wake(encoder.encode(HEARTBEAT));
      };
      const timer = setTimeout(beat, this.#options.heartbeatMs);
      this.#wake = (chunk) => {
        clearTimeout(timer);
        this.#wake = () => undefined;
        resolve(chunk);
      };
    });
  }
}
