import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { createParser, type EventSourceMessage } from 'eventsource-parser';

import contract from '../../../contracts/sse-events.json' with { type: 'json' };
import { eventStream, type EventStreamOptions } from '../src/events/event-stream.ts';
import type { EventRing, RingEvent } from '../src/events/ring.ts';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
const isEnvelope = ajv.compile(contract.envelope);
const payloads = new Map<string, ValidateFunction>(
  Object.entries(contract.events).map(([name, { payload }]) => [name, ajv.compile(payload)]),
);

/** The envelope that a frame holds. */
export interface Envelope {
  readonly v: number;
  readonly session: string;
  readonly turn: string | null;
  readonly seq: number;
  readonly payload: Record<string, unknown>;
}

export const envelopeOf = ({ data }: { data: string }): Envelope => JSON.parse(data) as Envelope;

/** Why a frame is not as `contracts/sse-events.json` says; empty when it is. */
export function contractFaults(frame: { event?: string | undefined; data: string }): string[] {
  const envelope = envelopeOf(frame);
  const isPayload = payloads.get(frame.event ?? '');
  if (isPayload === undefined) return [`no event is named ${String(frame.event)}`];
  isEnvelope(envelope);
  isPayload(envelope.payload);
  return [...(isEnvelope.errors ?? []), ...(isPayload.errors ?? [])].map(
    (error) => `${error.instancePath} ${error.message ?? ''}`,
  );
}

export const text = (delta: string, turn: string | null = 'turn-0'): RingEvent => ({
  name: 'text',
  turn,
  payload: { delta },
});

/** Appends texts: their number, so that each is told from the other. */
export function appendTexts(ring: EventRing, count: number, filler = ''): void {
  for (let index = 0; index < count; index += 1) {
    ring.append(text(`${String(ring.lastSeq + 1)} ${filler}`));
  }
}

/** What an EventSource makes of bytes. */
export class Parsed {
  readonly frames: EventSourceMessage[] = [];
  readonly comments: string[] = [];
  readonly retries: number[] = [];
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #parser = createParser({
    onEvent: (frame) => this.frames.push(frame),
    onComment: (comment) => this.comments.push(comment),
    onRetry: (ms) => this.retries.push(ms),
    onError: (error) => {
      throw error;
    },
  });

  feed(bytes: Uint8Array): void {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
  }

  get seqs(): number[] {
    return this.frames.map((frame) => envelopeOf(frame).seq);
  }
}

/** Reads a stream chunk by chunk, when told to. */
export class Client extends Parsed {
  readonly sizes: number[] = [];
  isClosed = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #pending: Promise<void> | null = null;

  constructor(stream: ReadableStream<Uint8Array>) {
    super();
    this.#reader = stream.getReader();
  }

  /**
   * Reads one chunk, however long it takes, but for the first of all, which says how long to wait;
   * calls while one is awaited await the same.
   */
  read(): Promise<void> {
    this.#pending ??= this.#reader.read().then(({ done, value }) => {
      this.#pending = null;
      if (done) this.isClosed = true;
      if (value === undefined) return undefined;
      const isFirst = this.retries.length === 0;
      this.feed(value);
      if (isFirst) return this.read();
      this.sizes.push(value.byteLength);
      return undefined;
    });
    return this.#pending;
  }

  /** Reads until that many frames are there, or the stream is over. */
  async readFrames(count: number): Promise<void> {
    while (this.frames.length < count && !this.isClosed) await this.read();
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

/** Lets everything happen that waits for nothing but its turn. */
export const settle = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** What may still end a stream that was connected. */
export const joined = new Set<() => void>();

/** Someone who reads a ring. */
export const connect = (ring: EventRing, options: Partial<EventStreamOptions> = {}): Client =>
  new Client(
    eventStream(ring, {
      lastEventId: null,
      heartbeatMs: 15_000,
      retryMs: 1000,
      snapshot: () => ({ running: null, approvals: [] }),
      join: (close) => {
        joined.add(close);
        return () => {
          joined.delete(close);
        };
      },
      ...options,
    }),
  );

/** The text of the latest frame of a ring. */
export const lastFrame = (ring: EventRing): string =>
  new TextDecoder().decode(ring.frame(ring.lastSeq));

/** The JSON in a frame. */
export const dataOf = (frame: string): string => /^data: (.*)$/m.exec(frame)?.[1] ?? '';
