import { getEventListeners } from 'node:events';

import { describe, expect, test, vi } from 'vitest';

import { EventRing, eventStream, type EventStreamOptions } from '../src/events/index.ts';
import { appendTexts, Client, countSubscriptions, settle, text } from './events-support.ts';

const connect = (ring: EventRing, options: EventStreamOptions): Client =>
  new Client(eventStream(ring, options));

describe('the end of a stream', () => {
  const leftBehind = (ring: { count: number }, signal: AbortSignal): number[] => [
    ring.count,
    getEventListeners(signal, 'abort').length,
    vi.getTimerCount(),
  ];

  test.each(['before the first read', 'while it waits', 'between two reads', 'amid a large event'])(
    'leaves no timer and no listener, by cancel or abort, %s',
    async (when) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      for (const ending of ['cancel', 'abort']) {
        const ring = new EventRing('s');
        const open = countSubscriptions(ring);
        const controller = new AbortController();
        const { signal } = controller;
        const client = connect(ring, { signal, maxQueuedBytes: 500 });
        const isWaiting = when === 'while it waits';
        if (when === 'amid a large event') ring.append(text('x'.repeat(1_000)));
        else appendTexts(ring, 1);
        if (when !== 'before the first read') await client.read();
        const reading = isWaiting ? client.read() : null;
        await settle();
        expect(leftBehind(open, signal)).toEqual([1, 1, isWaiting ? 1 : 0]);

        if (ending === 'cancel') await client.cancel();
        else controller.abort();
        expect(leftBehind(open, signal)).toEqual([0, 0, 0]);
        appendTexts(ring, 1);
        await (reading ?? client.read());
        await settle();
        expect(client.isClosed).toBe(true);
        expect(leftBehind(open, signal)).toEqual([0, 0, 0]);
        controller.abort();
        await client.cancel();
      }
    },
  );

  test('is at once when the signal aborted before', async () => {
    const ring = new EventRing('s');
    const open = countSubscriptions(ring);
    appendTexts(ring, 1);
    const client = connect(ring, { lastEventId: -1, signal: AbortSignal.abort(), retryMs: 1 });
    await client.read();
    expect([client.isClosed, client.frames, client.retries, open.count]).toEqual([true, [], [], 0]);
  });

  test('may come while the snapshot is made', async () => {
    const ring = new EventRing('s');
    const controller = new AbortController();
    const client = connect(ring, {
      lastEventId: 4,
      signal: controller.signal,
      snapshot: () => {
        controller.abort();
        return {};
      },
    });
    await client.read();
    expect([client.isClosed, client.frames]).toEqual([true, []]);
  });
});

describe('a misuse is a TypeError that says so', () => {
  const stream = (options: unknown) => () =>
    eventStream(new EventRing('s'), options as EventStreamOptions);

  test.each<[string, () => unknown, RegExp]>([
    ['no ring', () => eventStream({} as never), /^ring: expected an EventRing, got an object$/],
    ['options null', stream(null), /^options: expected an object, got null$/],
    ['a text as id', stream({ lastEventId: '4' }), /^options\.lastEventId: .* at least -1, got "4"$/],
    ['an id of −2', stream({ lastEventId: -2 }), /^options\.lastEventId: /],
    ['no time', stream({ heartbeatMs: 0 }), /^options\.heartbeatMs: .* from 1 to 2147483647, got 0$/],
    ['a time too long', stream({ heartbeatMs: 2 ** 31 }), /^options\.heartbeatMs: /],
    ['3 bytes', stream({ maxQueuedBytes: 3 }), /^options\.maxQueuedBytes: .* at least 4, got 3$/],
    ['NaN as retry', stream({ retryMs: NaN }), /^options\.retryMs: .* got NaN$/],
    ['a snapshot that is data', stream({ snapshot: {} }), /^options\.snapshot: expected a function/],
    ['no signal', stream({ signal: {} }), /^options\.signal: expected an AbortSignal, got an object$/],
    ['null as signal', stream({ signal: null }), /^options\.signal: /],
  ])('%s', (_, misuse, message) => {
    expect(misuse).toThrow(TypeError);
    expect(misuse).toThrow(message);
  });
});
