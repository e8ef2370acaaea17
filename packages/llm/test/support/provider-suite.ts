import { inspect } from 'node:util';

import { LlmError, type Llm, type StreamEvent } from '@celestea/core';
import { describe, expect, test, vi } from 'vitest';

import type { AiSdkLlmOptions } from '../../src/index.ts';
import { failuresOf, FIELDS_OF_TORN } from './failures.ts';
import { startModelServer, type ModelServer } from './model-server.ts';
import {
  KEY,
  PROMPT,
  type GoodStream,
  type ProviderWire,
} from './provider-streams/good-stream.ts';
import { joinDeltas, nameMadeIds, read, REQUEST, sentIds, type Reading } from './reading.ts';
import { scriptedFetch } from './scripted-fetch.ts';
import {
  byteByByte,
  bytesOf,
  cutAt,
  replyOf,
  type RecordedRequest,
  type ScriptedReply,
} from './scripted-reply.ts';

/** Where a provider is. */
export interface Endpoint {
  readonly baseURL: string;
  readonly fetch?: typeof globalThis.fetch;
}

/** A provider's wire format, and the adapter for it. */
export interface Provider extends ProviderWire {
  readonly title: string;
  /** A model with the key {@link KEY}. */
  readonly llm: (endpoint: Endpoint, options?: AiSdkLlmOptions) => Llm;
}

const NOWHERE = 'http://127.0.0.1:9/v1';

export const endpointOf = ({ url, fetch }: ModelServer): Endpoint => ({
  baseURL: `${url}/v1`,
  fetch,
});

/** Every `stride`-th number up to `end`, and `end`. */
function* sampled(end: number, stride: number): Generator<number> {
  for (let at = 1; at < end; at += stride) yield at;
  yield end;
}

const joinedText = (events: readonly StreamEvent[], kind: 'text' | 'thinking'): string =>
  events.map((event) => (event.kind === kind ? event.text : '')).join('');

const kindsOf = (events: readonly StreamEvent[]): string[] => events.map(({ kind }) => kind);

const messageOf = (error: unknown): string => (error instanceof LlmError ? error.message : '');

/** Everything that anybody could print of an error. */
const printed = (error: unknown): string =>
  [JSON.stringify(error), inspect(error, { depth: 20, showHidden: true })].join('\n');

function expectNoSecrets(error: unknown): void {
  const text = printed(error);
  expect(text).not.toContain(KEY);
  expect(text).not.toContain(PROMPT);
  expect(text).not.toContain(PROMPT.slice(0, 20));
  expect(text).not.toContain(REQUEST.system);
  expect(text).not.toContain('requestBody');
}

/** One reply after the other through one model, without a network. */
function reader(provider: Provider): (reply: ScriptedReply) => Promise<Reading> {
  const replies: ScriptedReply[] = [];
  const script: Iterator<ScriptedReply> = {
    next: () => {
      const value = replies.shift();
      return value === undefined ? { done: true, value } : { done: false, value };
    },
  };
  const { fetch } = scriptedFetch({ [Symbol.iterator]: () => script });
  const llm = provider.llm({ baseURL: NOWHERE, fetch });
  return async (reply) => {
    replies.push(reply);
    return read(llm);
  };
}

/**
 * A model under fake timers. It has answered once, so that all its modules are loaded and
 * nothing but those timers is waited for.
 */
async function withFakeTimers(
  provider: Provider,
  script: readonly ScriptedReply[],
  options: AiSdkLlmOptions = {},
): Promise<{ llm: Llm; requests: readonly RecordedRequest[] }> {
  const { fetch, requests } = scriptedFetch([replyOf(provider.begun), ...script]);
  const llm = provider.llm({ baseURL: NOWHERE, fetch }, options);
  expect((await read(llm)).error).toMatchObject(FIELDS_OF_TORN);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  return { llm, requests };
}

/** What is read of a stream has to be what its script says, and the same as of every other run. */
function wholeReading(good: GoodStream): (reading: Reading) => readonly StreamEvent[] {
  const sent = sentIds(good.events);
  return ({ events, error }) => {
    expect(error).toBe(null);
    const named = nameMadeIds(events, sent);
    expect(joinDeltas(named)).toEqual(good.events);
    return named;
  };
}

/** A stream that ended after `cut` bytes is whole, or torn and says so; nothing in between. */
function expectCut(good: GoodStream, cut: number, { events, error }: Reading): void {
  const where = `cut after ${String(cut)} bytes`;
  const kinds = kindsOf(events);
  expect(kinds.filter((kind) => kind === 'usage').length, where).toBeLessThanOrEqual(1);
  for (const kind of ['text', 'thinking'] as const) {
    expect(joinedText(good.events, kind).startsWith(joinedText(events, kind)), where).toBe(true);
  }
  if (error === null) {
    expect(cut, where).toBeGreaterThanOrEqual(good.overAt);
    const withoutUsage = good.events.filter(({ kind }) => kind !== 'usage' || kinds.includes(kind));
    expect(joinDeltas(nameMadeIds(events, sentIds(good.events)))).toEqual(withoutUsage);
    return;
  }
  expect(cut, where).toBeLessThan(good.overAt);
  expect(kinds, where).not.toContain('done');
  expect(error, where).toBeInstanceOf(LlmError);
  expect(error, where).toMatchObject(FIELDS_OF_TORN);
  // an adapter may read the first event before there is a stream
  if (events.length > 0) expect(error, where).toMatchObject({ kind: 'stream' });
  expect(messageOf(error), where).toMatch(/ended|broke/);
}

/** What every adapter of this package has to make of its provider's bytes. */
export function describeProvider(provider: Provider): void {
  describe(`${provider.title}: a good stream`, () => {
    describe.each(provider.good)('$title', (good) => {
      const bytes = bytesOf(good.wire);

      test('C2.2 is what its script says, in one piece and byte by byte', async () => {
        const readOne = reader(provider);
        const whole = wholeReading(good);
        const unsplit = whole(await readOne({ pieces: [bytes] }));
        expect(whole(await readOne({ pieces: byteByByte(bytes) }))).toEqual(unsplit);
      });

      test('C2.2 is the same, split at every byte', async () => {
        const readOne = reader(provider);
        const whole = wholeReading(good);
        const unsplit = whole(await readOne({ pieces: [bytes] }));
        for (let at = 1; at < bytes.length; at += 1) {
          const split = whole(await readOne({ pieces: cutAt(bytes, at) }));
          expect(split, `split after ${String(at)} bytes`).toEqual(unsplit);
        }
      });

      test('C2.2 is the same from a socket, split here and there and byte by byte', async () => {
        const whole = wholeReading(good);
        const cuts = [...sampled(bytes.length - 1, 41)];
        const script = [...cuts.map((at) => cutAt(bytes, at)), byteByByte(bytes)];
        const replies = script.map((pieces) => ({ pieces }));
        const server = await startModelServer(replies, { lockstep: true });
        const llm = provider.llm(endpointOf(server));
        const unsplit = whole(await reader(provider)({ pieces: [bytes] }));
        while (server.requests.length < script.length) {
          expect(whole(await read(llm))).toEqual(unsplit);
        }
        await server.settled();
      });

      test('that ends early, at any byte, gives no done and no call, and says so', async () => {
        const readOne = reader(provider);
        for (let cut = 0; cut < bytes.length; cut += 1) {
          expectCut(good, cut, await readOne({ pieces: [bytes.subarray(0, cut)] }));
        }
      });

      test('that is cut off by its socket gives no done and no call, and says so', async () => {
        const cuts = [...sampled(good.overAt - 1, 37)];
        const script = cuts.map((cut): ScriptedReply => {
          return { pieces: [bytes.subarray(0, cut)], ending: 'cut' };
        });
        const server = await startModelServer(script);
        const llm = provider.llm(endpointOf(server));
        for (const cut of cuts) expectCut(good, cut, await read(llm));
      });
    });
  });

  describe(`${provider.title}: a failure`, () => {
    test.each(failuresOf(provider))('$title', async ({ reply, error: fields, says, events }) => {
      const server = await startModelServer([reply]);
      const reading = await read(provider.llm(endpointOf(server)));
      const { error } = reading;
      expect(error).toBeInstanceOf(LlmError);
      expect(error).toMatchObject({ timeoutStage: null, retryAfterMs: null, ...fields });
      expect(messageOf(error)).toMatch(says);
      expect(joinDeltas(reading.events)).toEqual(events);
      expectNoSecrets(error);
      await server.settled();
    });

    test('C2.4 a date in Retry-After is the time until then', async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2030, 0, 7, 12, 0, 0) });
      const headers = { 'Retry-After': 'Mon, 07 Jan 2030 12:01:30 GMT' };
      const { error } = await reader(provider)({ ...replyOf('{}'), status: 429, headers });
      expect(error).toMatchObject({ httpStatus: 429, retryable: true, retryAfterMs: 90_000 });
    });

    test('C2.4 silence before the headers, and in the stream, runs into its limit', async () => {
      const begun = replyOf(provider.begun, { ending: 'silence' });
      const timeouts = { responseMs: 30_000, idleMs: 20_000 };
      const script = [{ mute: true as const }, begun];
      const { llm, requests } = await withFakeTimers(provider, script, { timeouts });
      const limits = [
        ['response', timeouts.responseMs],
        ['idle', timeouts.idleMs],
      ] as const;
      for (const [timeoutStage, limitMs] of limits) {
        let isOver = false;
        const reading = read(llm).finally(() => {
          isOver = true;
        });
        await vi.advanceTimersByTimeAsync(limitMs - 1);
        expect(isOver).toBe(false);
        await vi.advanceTimersByTimeAsync(1);
        const { error, events } = await reading;
        expect(error).toBeInstanceOf(LlmError);
        expect(error).toMatchObject({ kind: 'timeout', timeoutStage, retryable: true });
        expect(messageOf(error)).toContain(`${String(limitMs)} ms`);
        expect(joinedText(events, 'text')).toBe(timeoutStage === 'idle' ? 'Let me ' : '');
        expectNoSecrets(error);
      }
      for (const { ended } of requests.slice(1)) expect(await ended).toBe('left by the client');
    });

    test('C2.4 silence after an error in the stream does not hold the error back', async () => {
      const type = provider.names.overloaded;
      const told = provider.refusalEvent({ message: 'Overloaded.', type });
      const reply = replyOf(provider.begun + told, { ending: 'silence' });
      const reading = read((await withFakeTimers(provider, [reply])).llm);
      await vi.advanceTimersByTimeAsync(1000);
      const { error, events } = await reading;
      expect(error).toMatchObject({ kind: 'stream', retryable: true });
      expect(messageOf(error)).toMatch(/Overloaded\.$/);
      expect(joinedText(events, 'text')).toBe('Let me ');
    });
  });

  describe(`${provider.title}: an abort`, () => {
    const reason = new Error('enough');

    test("X2 before the headers is the signal's reason, and closes the connection", async () => {
      const server = await startModelServer([{ mute: true }]);
      const controller = new AbortController();
      const reading = read(provider.llm(endpointOf(server)), controller.signal);
      const { ended } = await server.arrival();
      controller.abort(reason);
      expect(await reading).toEqual({ events: [], error: reason });
      expect(await ended).toBe('left by the client');
    });

    test("X2 in the stream is the signal's reason, and closes the connection", async () => {
      const server = await startModelServer([replyOf(provider.begun, { ending: 'silence' })]);
      const controller = new AbortController();
      const llm = provider.llm(endpointOf(server));
      const { events, error } = await read(llm, controller.signal, ({ kind }) => {
        if (kind === 'text') controller.abort(reason);
      });
      expect(error).toBe(reason);
      expect(joinedText(events, 'text')).toBe('Let me ');
      expect(kindsOf(events)).not.toContain('done');
      expect(await server.requests[0]?.ended).toBe('left by the client');
    });

    test('X2 that came already sends no request', async () => {
      const { fetch, requests } = scriptedFetch([{ mute: true }]);
      const llm = provider.llm({ baseURL: NOWHERE, fetch });
      expect(await read(llm, AbortSignal.abort(reason))).toEqual({ events: [], error: reason });
      expect(requests.length).toBe(0);
    });

    test('whoever leaves the iteration closes the connection', async () => {
      const server = await startModelServer([replyOf(provider.begun, { ending: 'silence' })]);
      const llm = provider.llm(endpointOf(server));
      for await (const { kind } of await llm.generate(REQUEST)) if (kind === 'text') break;
      expect(await server.requests[0]?.ended).toBe('left by the client');
    });
  });
}
