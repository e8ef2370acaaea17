import { getEventListeners } from 'node:events';

import {
  assistantText,
  LlmError,
  userMessage,
  zeroUsage,
  type GenerateOptions,
  type Llm,
  type LlmStream,
  type ModelRequest,
  type StreamEvent,
} from '@celestea/core';
import fc from 'fast-check';
import { expect } from 'vitest';

import { requestOf } from './v3-model.ts';

/** What one `generate` of a {@link TriesLlm} does. */
export type Try =
  | { readonly at: 'throw' | 'reject'; readonly error: unknown }
  | { readonly at: 'stream'; readonly events: readonly StreamEvent[]; readonly error?: unknown }
  | { readonly at: 'gate'; readonly stream: Promise<LlmStream> };

export const busy = (retryAfterMs: number | null = null): LlmError =>
  new LlmError('busy', 'generate', { httpStatus: 503, retryable: true, retryAfterMs });
export const refused = (httpStatus = 401): LlmError =>
  new LlmError('refused', 'generate', { httpStatus });

export const text = (words: string): StreamEvent => ({ kind: 'text', text: words });
export const done = (words: string): StreamEvent => ({
  kind: 'done',
  message: assistantText(words),
});
export const failedEvent: StreamEvent = { kind: 'failed', kindOf: 'stream', message: 'overloaded' };
export const usageEvent: StreamEvent = { kind: 'usage', usage: zeroUsage() };

export const rejects = (error: unknown): Try => ({ at: 'reject', error });
export const throws = (error: unknown): Try => ({ at: 'throw', error });
export const streams = (...events: StreamEvent[]): Try => ({ at: 'stream', events });
/** A stream that is torn after these events. */
export const tears = (error: unknown, ...events: StreamEvent[]): Try => ({
  at: 'stream',
  events,
  error,
});
export const says = (words: string): Try => streams(text(words), done(words));

export const request: ModelRequest = requestOf({ messages: [userMessage('go')] });

/** Plays one try a `generate`; a call beyond the last one is an error of the test. */
export class TriesLlm implements Llm {
  readonly requests: ModelRequest[] = [];
  readonly options: (GenerateOptions | undefined)[] = [];
  /** Streams that somebody began to read, and that neither ended nor were closed. */
  open = 0;
  /** How often a stream was closed by its reader. */
  closed = 0;
  readonly #tries: readonly Try[];

  constructor(...tries: readonly Try[]) {
    this.#tries = tries;
  }

  get calls(): number {
    return this.requests.length;
  }

  generate(asked: ModelRequest, options?: GenerateOptions): Promise<LlmStream> {
    const now = this.#tries[this.requests.length];
    this.requests.push(asked);
    this.options.push(options);
    switch (now?.at) {
      case undefined:
        throw new Error(`there is no try ${String(this.calls)}`);
      case 'throw':
        throw now.error;
      case 'reject':
        return Promise.resolve().then(() => {
          throw now.error;
        });
      case 'gate':
        return now.stream;
      case 'stream':
        return Promise.resolve({ [Symbol.asyncIterator]: () => this.#play(now) });
      default:
        return now satisfies never;
    }
  }

  #play(now: Extract<Try, { at: 'stream' }>): AsyncIterator<StreamEvent> {
    const events = now.events.values();
    let isOpen = true;
    this.open += 1;
    const end = (): IteratorReturnResult<undefined> => {
      if (isOpen) this.open -= 1;
      isOpen = false;
      return { done: true, value: undefined };
    };
    return {
      next: async () => {
        await Promise.resolve();
        const { value } = isOpen ? events.next() : { value: undefined };
        if (value !== undefined) return { done: false, value };
        const wasOpen = isOpen;
        end();
        if (wasOpen && 'error' in now) throw now.error;
        return end();
      },
      return: () => {
        if (isOpen) this.closed += 1;
        return Promise.resolve(end());
      },
    };
  }
}

/** A stream that waits for good, once these events were read; counts how often it was closed. */
export class HangingStream implements AsyncIterable<StreamEvent> {
  closed = 0;
  readonly #events: Iterator<StreamEvent, undefined>;

  constructor(...events: StreamEvent[]) {
    this.#events = events.values();
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamEvent> {
    return {
      next: () => {
        const { value } = this.#events.next();
        if (value === undefined) return new Promise(() => undefined);
        return Promise.resolve({ done: false, value });
      },
      return: () => {
        this.closed += 1;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}

/** A whole reply as its reader sees it, and where it broke. */
export interface Seen {
  readonly events: readonly StreamEvent[];
  readonly broke: 'generate' | 'stream' | null;
  readonly error?: unknown;
}

export async function seen(llm: Llm, options?: GenerateOptions): Promise<Seen> {
  const events: StreamEvent[] = [];
  let stream: LlmStream;
  try {
    stream = await llm.generate(request, options);
  } catch (error) {
    return { events, broke: 'generate', error };
  }
  try {
    for await (const event of stream) events.push(event);
  } catch (error) {
    return { events, broke: 'stream', error };
  }
  return { events, broke: null };
}

export async function collect(stream: LlmStream): Promise<StreamEvent[]> {
  const all: StreamEvent[] = [];
  for await (const event of stream) all.push(event);
  return all;
}

/** What {@link seen} gives for a try that stands alone. */
export function seenOf(one: Try): Seen {
  if (one.at === 'gate') throw new Error('what is behind a gate is not known');
  if (one.at !== 'stream') return { events: [], broke: 'generate', error: one.error };
  const broke = 'error' in one ? { broke: 'stream' as const, error: one.error } : { broke: null };
  return { events: one.events, ...broke };
}

const isUsage = (event: StreamEvent): boolean => event.kind === 'usage';

/** The events of a try that tell something of a reply: what it cost does not. */
export const toldBy = (one: Try): readonly StreamEvent[] =>
  one.at === 'stream' ? one.events.filter((event) => !isUsage(event)) : [];

/** What the reader sees when the last of these tries stands: what each cost, then that one. */
export function standingOf(...tries: readonly Try[]): Seen {
  const failed = tries.slice(0, -1);
  const spent = failed.flatMap((one) => {
    if (one.at !== 'stream') return [];
    const end = one.events.findIndex((event) => !isUsage(event));
    return end === -1 ? one.events : one.events.slice(0, end);
  });
  const last = seenOf(tries.at(-1) ?? rejects(null));
  const events = [...spent, ...last.events];
  return last.broke === 'generate' && spent.length > 0
    ? { events, broke: 'stream', error: last.error }
    : { ...last, events };
}

/** Hooks that fail, at once and later. */
export const failingHooks: readonly (() => unknown)[] = [
  () => {
    throw new Error('a hook of the caller');
  },
  () => Promise.reject(new Error('a hook of the caller')),
];

const MOMENTS = 60;

/**
 * Reads a reply once for each number of microtasks after which it is cancelled. Up to some
 * moment the reason must come, from then on the whole reply; nothing is asked after the abort,
 * and no stream and no listener is left.
 */
export async function expectAbortable(
  make: () => { llm: Llm; models: readonly TriesLlm[] },
  reply: Seen,
): Promise<void> {
  const reason = { of: 'the caller' };
  const outcomes: unknown[] = [];
  for (let ticks = 0; ticks < MOMENTS; ticks += 1) {
    const { llm, models } = make();
    const abort = new AbortController();
    const reading = llm.generate(request, abort).then(collect, (error: unknown) => error);
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    const asked = models.map(({ calls }) => calls);
    abort.abort(reason);
    outcomes.push(await reading);
    expect(models.map(({ calls }) => calls)).toEqual(asked);
    expect(models.every(({ open }) => open === 0)).toBe(true);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  }
  const answered = outcomes.findIndex((outcome) => outcome !== reason);
  expect(answered).toBeGreaterThan(10);
  expect(outcomes.slice(answered)).toEqual(
    Array<unknown>(MOMENTS - answered).fill(reply.events),
  );
}

const events = fc.constantFrom<StreamEvent>(
  text('a'),
  { kind: 'thinking', text: 'b' },
  usageEvent,
  done('c'),
  failedEvent,
  { kind: 'interrupted' },
);
const errors = fc
  .tuple(fc.constantFrom('busy', 'refused', 'error', 'text'), fc.nat(3000))
  .map(([kind, ms]): unknown => {
    if (kind === 'busy') return busy(ms < 1000 ? null : ms);
    if (kind === 'refused') return refused();
    return kind === 'error' ? new Error('no class') : 'a text';
  });

/** Any way for one try to go, failures in the front. */
export const anyTry: fc.Arbitrary<Try> = fc.oneof(
  { weight: 3, arbitrary: errors.map(rejects) },
  { weight: 1, arbitrary: errors.map(throws) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(errors, fc.array(events, { maxLength: 1 }))
      .map(([error, before]) => tears(error, ...before)),
  },
  { weight: 2, arbitrary: fc.array(events, { maxLength: 3 }).map((all) => streams(...all)) },
);
