import { expectThat, isRecord, utf8Length } from '@celestea/core';

import { expectWhole } from './checks.ts';
import { envelopeText, recordText } from './envelope.ts';
import { FramePieces } from './frame-pieces.ts';
import {
  commentFrame,
  FRAME_END,
  frameHead,
  formatFrame,
  retryFrame,
  unnumberedHead,
} from './frames.ts';
import { EventRing, type StoredEvent } from './ring.ts';

/** How a reader is served. Every field may be left out. */
export interface EventStreamOptions {
  /** The seq it saw last, −1 to begin with the first; without one, only what comes from now on. */
  readonly lastEventId?: number | null | undefined;
  /** A comment is sent when a reader waited this long, in milliseconds; 15,000 unless given. */
  readonly heartbeatMs?: number | undefined;
  /** Most bytes in flight to a reader that does not read; at least 4, 1 MiB unless given. */
  readonly maxQueuedBytes?: number | undefined;
  /** When given, the first frame: the milliseconds to wait before connecting again. */
  readonly retryMs?: number | undefined;
  /** What a reader that fell behind has to know. When it throws, there is none. */
  readonly snapshot?: (() => Record<string, unknown>) | undefined;
  /** Closes the stream. It belongs to the caller; the stream only listens. */
  readonly signal?: AbortSignal | undefined;
}

/** Frames are sent together up to this many bytes: many small ones cost what one costs. */
const BATCH_BYTES = 64 * 1024;

/** Longer ones overflow a timer, which then fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A seq after which no ring holds all. */
const LOST = -2;

const encoder = new TextEncoder();

/**
 * The events of a ring as server-sent events: first what the reader missed, then what comes,
 * each once and in order.
 *
 * A reader is a place in the ring; nothing is queued for it. While it does not read, one chunk
 * of at most `maxQueuedBytes` is in flight, and the ring goes on without it. When it reads
 * again and the ring holds no longer all it missed, it gets a `status` event with the payload
 * `{ phase: 'lagged', snapshot }` (`snapshot` is `null` without one), numbered as the ring's
 * latest event, and goes on from there. (Before the first event there is no such number: the
 * frame then has no id, and its envelope says 0.) A frame larger than `maxQueuedBytes` is sent
 * in pieces; when the ring moves on beyond it before all are read, the stream closes, since a
 * frame cannot be broken off: a reader that connects again is told that it lagged.
 *
 * The stream ends when it is cancelled or `signal` aborts, and leaves nothing behind.
 *
 * @throws TypeError for what is no ring and for options of the wrong kind.
 * @example new Response(eventStream(ring, { lastEventId: parseLastEventId(header) }))
 */
export function eventStream(
  ring: EventRing,
  options: EventStreamOptions = {},
): ReadableStream<Uint8Array> {
  expectThat(ring instanceof EventRing, 'ring', 'an EventRing', ring);
  const reader = new RingReader(ring, checked(options));
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

type Checked = ReturnType<typeof checked>;

function checked(options: EventStreamOptions) {
  expectThat(isRecord(options), 'options', 'an object', options);
  const { lastEventId = null, heartbeatMs = 15_000, maxQueuedBytes = 1024 * 1024 } = options;
  const { retryMs, snapshot, signal } = options;
  if (lastEventId !== null) expectWhole(lastEventId, 'options.lastEventId', -1);
  expectWhole(heartbeatMs, 'options.heartbeatMs', 1, MAX_TIMER_MS);
  expectWhole(maxQueuedBytes, 'options.maxQueuedBytes', 4);
  if (retryMs !== undefined) expectWhole(retryMs, 'options.retryMs', 0);
  const isFunction = snapshot === undefined || typeof snapshot === 'function';
  expectThat(isFunction, 'options.snapshot', 'a function', snapshot);
  const isSignal = signal === undefined || isAbortSignal(signal);
  expectThat(isSignal, 'options.signal', 'an AbortSignal', signal);
  return { lastEventId, heartbeatMs, maxQueuedBytes, retryMs, snapshot, signal };
}

function isAbortSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null) return false;
  const { aborted, addEventListener, removeEventListener } = value as Partial<AbortSignal>;
  const methods = [addEventListener, removeEventListener];
  return typeof aborted === 'boolean' && methods.every((method) => typeof method === 'function');
}

/** One reader's place in a ring. */
class RingReader {
  readonly #ring: EventRing;
  readonly #options: Checked;
  /** The seq of the latest event whose frame was begun. */
  #cursor: number;
  /** The rest of a frame that is sent in pieces. */
  #rest: FramePieces | null = null;
  #isFirst = true;
  #isOver = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #unsubscribe: () => void = ignore;
  /** Ends the wait of a `send`, with what is to be sent. */
  #wake: (chunk: Uint8Array | null) => void = ignore;

  constructor(ring: EventRing, options: Checked) {
    const seq = options.lastEventId ?? ring.lastSeq;
    this.#ring = ring;
    this.#options = options;
    // Judged here: the ring may come to give the numbers of another life before the first read.
    this.#cursor = ring.holdsAfter(seq) ? seq : LOST;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { signal } = this.#options;
    this.#controller = controller;
    if (signal?.aborted === true) {
      this.#close();
      return;
    }
    signal?.addEventListener('abort', this.#close);
    this.#unsubscribe = this.#ring.subscribe(this.#onEvent);
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
    this.#rest = null;
    this.#unsubscribe();
    this.#options.signal?.removeEventListener('abort', this.#close);
    this.#wake(null);
  }

  readonly #close = (): void => {
    this.end();
    this.#controller?.close();
  };

  readonly #onEvent = (): void => {
    // What is left of a large frame would be held for as long as nobody reads.
    if (this.#rest !== null && !this.#ring.holdsAfter(this.#cursor)) this.#close();
    else this.#wake(null);
  };

  /** A function, since what runs in between may end the stream. */
  #hasEnded(): boolean {
    return this.#isOver;
  }

  /** What is to be sent now; `null` when there is nothing. */
  #next(): Uint8Array | null {
    const { retryMs } = this.#options;
    if (this.#isFirst) {
      this.#isFirst = false;
      if (retryMs !== undefined) return encoder.encode(retryFrame(retryMs));
    }
    if (this.#rest !== null) return this.#piece(this.#rest);
    return this.#ring.holdsAfter(this.#cursor) ? this.#batch() : this.#lagged();
  }

  /** As many whole frames as go together, or the first piece of a large one. */
  #batch(): Uint8Array | null {
    const most = Math.min(BATCH_BYTES, this.#options.maxQueuedBytes);
    let [frames, bytes] = ['', 0];
    for (let event = this.#following(); event !== undefined; event = this.#following()) {
      bytes += frameHead(event).length + event.bytes + FRAME_END.length;
      if (bytes > most && frames === '') return this.#large(event);
      if (bytes > most) break;
      frames += formatFrame(event);
      this.#cursor = event.seq;
    }
    return frames === '' ? null : encoder.encode(frames);
  }

  #following(): StoredEvent | undefined {
    return this.#ring.get(this.#cursor + 1);
  }

  #large(event: StoredEvent): Uint8Array {
    this.#cursor = event.seq;
    return this.#begin(frameHead(event), event.data, event.bytes);
  }

  #lagged(): Uint8Array {
    const seq = this.#ring.lastSeq; // before the snapshot, so that nothing can fall in between
    const payload = `{"phase":"lagged","snapshot":${this.#snapshot() ?? 'null'}}`;
    const data = envelopeText(this.#ring.session, null, Math.max(seq, 0), payload);
    const head = seq < 0 ? unnumberedHead('status') : frameHead({ seq, name: 'status' });
    this.#cursor = seq;
    return this.#begin(head, data, utf8Length(data));
  }

  #snapshot(): string | null {
    try {
      return recordText(this.#options.snapshot?.());
    } catch {
      return null;
    }
  }

  #begin(head: string, data: string, bytes: number): Uint8Array {
    const all = head.length + bytes + FRAME_END.length;
    return this.#piece(new FramePieces([head, data, FRAME_END], all));
  }

  #piece(frame: FramePieces): Uint8Array {
    const piece = frame.take(this.#options.maxQueuedBytes);
    this.#rest = frame.isOver ? null : frame;
    return piece;
  }

  /** Waits for an event, the end, or the time of a heartbeat, which then is what comes. */
  #quiet(): Promise<Uint8Array | null> {
    return new Promise((resolve) => {
      const beat = (): void => {
        this.#wake(encoder.encode(commentFrame('')));
      };
      const timer = setTimeout(beat, this.#options.heartbeatMs);
      this.#wake = (chunk) => {
        clearTimeout(timer);
        this.#wake = ignore;
        resolve(chunk);
      };
    });
  }
}

function ignore(): void {
  // nobody waits
}
