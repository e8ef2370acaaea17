import { describe, expect, test, vi } from 'vitest';

import {
  EventRing,
  eventStream,
  formatFrame,
  type EventStreamOptions,
} from '../src/events/index.ts';
import {
  appendTexts,
  Client,
  contractFaults,
  countSubscriptions,
  envelopeOf,
  settle,
  text,
} from './events-support.ts';

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

const connect = (ring: EventRing, options?: EventStreamOptions): Client =>
  new Client(eventStream(ring, options));

const fakeTimers = (): void => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
};

describe('a reader', () => {
  test('without a Last-Event-ID gets what comes from now on', async () => {
    const ring = new EventRing('s');
    appendTexts(ring, 3);
    const client = connect(ring);
    appendTexts(ring, 1); // after the stream was made, before its first read
    await client.read();
    const reading = client.read();
    appendTexts(ring, 2);
    await reading;
    expect(client.seqs).toEqual([3, 4, 5]);
    expect(client.frames.map(({ id }) => id)).toEqual(['3', '4', '5']);
    await client.cancel();
  });

  test('on a ring without events gets the first', async () => {
    const ring = new EventRing('s');
    const client = connect(ring, { lastEventId: null });
    const reading = client.read();
    await settle();
    const first = ring.append(text('a'));
    await reading;
    expect(client.frames).toEqual([{ id: '0', event: 'text', data: first.data }]);
    await client.cancel();
  });

  test.each(range(-1, 20))('that saw event %i last goes on with the next', async (lastEventId) => {
    const ring = new EventRing('s');
    appendTexts(ring, 20);
    const client = connect(ring, { lastEventId });
    if (lastEventId < 19) await client.readFrames(19 - lastEventId);
    appendTexts(ring, 2);
    await client.readFrames(21 - lastEventId);
    expect(client.seqs).toEqual(range(lastEventId + 1, 22));
    expect(client.frames.map(({ data }) => data)).toEqual(
      ring.after(lastEventId)?.map(({ data }) => data),
    );
    await client.cancel();
  });

  test('gets events of one moment in one chunk', async () => {
    const ring = new EventRing('s');
    const client = connect(ring);
    const reading = client.read();
    await settle();
    appendTexts(ring, 100);
    await reading;
    expect(client.seqs).toEqual(range(0, 100));
    expect(client.sizes).toHaveLength(1);
    await client.cancel();
  });

  test('is told first how long to wait before it connects again, when asked for', async () => {
    const ring = new EventRing('s');
    const client = connect(ring, { retryMs: 2_000 });
    await client.read();
    expect([client.retries, client.frames]).toEqual([[2_000], []]);
    appendTexts(ring, 1);
    await client.read();
    expect([client.retries, client.seqs]).toEqual([[2_000], [0]]);
    await client.cancel();
  });
});

describe('a reader that the ring left behind', () => {
  const snapshot = (): Record<string, unknown> => ({ running: true, text: '\r\n\u2028\ud800' });

  test('is told so, with a snapshot, and goes on from the latest event', async () => {
    const ring = new EventRing('s', { maxEvents: 3 });
    appendTexts(ring, 10);
    const client = connect(ring, { lastEventId: 5, snapshot });
    await client.read();
    const [lagged] = client.frames;
    expect(lagged).toMatchObject({ id: '9', event: 'status' });
    expect(lagged && envelopeOf(lagged)).toEqual({
      v: 1,
      session: 's',
      turn: null,
      seq: 9,
      payload: { phase: 'lagged', snapshot: snapshot() },
    });
    appendTexts(ring, 2);
    await client.readFrames(3);
    expect(client.seqs).toEqual([9, 10, 11]);
    expect(client.frames.flatMap(contractFaults)).toEqual([]);
    await client.cancel();
  });

  test('is told so when its number is of another life, even if the ring comes to that number', async () => {
    const ring = new EventRing('s');
    appendTexts(ring, 2);
    const client = connect(ring, { lastEventId: 4 });
    appendTexts(ring, 8);
    await client.read();
    expect(client.frames).toMatchObject([{ id: '9', event: 'status' }]);
    await client.cancel();
  });

  test('is told so before there is any event, without a number to go on from', async () => {
    const ring = new EventRing('s');
    const client = connect(ring, { lastEventId: 4, snapshot });
    await client.read();
    appendTexts(ring, 1);
    await client.readFrames(2);
    expect(client.frames.map(({ id, event }) => [id, event])).toEqual([
      [undefined, 'status'],
      ['0', 'text'],
    ]);
    expect(client.frames.flatMap(contractFaults)).toEqual([]);
    await client.cancel();
  });

  test.each<[string, EventStreamOptions['snapshot']]>([
    ['is not given', undefined],
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['is no object', () => [] as never],
  ])('gets null when the snapshot %s', async (_, broken) => {
    const ring = new EventRing('s');
    const client = connect(ring, { lastEventId: 4, snapshot: broken });
    await client.read();
    const payloads = client.frames.map((frame) => envelopeOf(frame).payload);
    expect(payloads).toEqual([{ phase: 'lagged', snapshot: null }]);
    await client.cancel();
  });

  test('misses nothing that is appended while the snapshot is made', async () => {
    const ring = new EventRing('s');
    const client = connect(ring, {
      lastEventId: 4,
      snapshot: () => {
        appendTexts(ring, 2);
        return {};
      },
    });
    await client.readFrames(3);
    expect(client.frames.map(({ event }) => event)).toEqual(['status', 'text', 'text']);
    expect(client.seqs.slice(1)).toEqual([0, 1]);
    await client.cancel();
  });
});

describe('a reader that stalls', () => {
  test('gets all it missed, in chunks of bounded size, as far as the ring holds it', async () => {
    const ring = new EventRing('s', { maxEvents: 200_000, maxBytes: 2 ** 26 });
    const client = connect(ring, { maxQueuedBytes: 5_000 });
    appendTexts(ring, 1);
    await client.read();
    appendTexts(ring, 100_000);
    await client.readFrames(100_001);
    expect(client.seqs).toEqual(range(0, 100_001));
    expect(Math.max(...client.sizes)).toBeLessThanOrEqual(5_000);
    await client.cancel();
  });

  test('has nothing queued for it, and slows neither the ring nor another reader', async () => {
    const ring = new EventRing('s');
    const calls = { snapshot: 0 };
    const stalled = connect(ring, {
      snapshot: () => {
        calls.snapshot += 1;
        return {};
      },
    });
    const other = connect(ring);
    appendTexts(ring, 1);
    await Promise.all([stalled.read(), other.read()]);
    for (let round = 0; round < 100; round += 1) {
      const reading = other.readFrames(other.frames.length + 1_000);
      appendTexts(ring, 1_000, 'x'.repeat(100));
      await reading;
    }
    expect(other.seqs).toEqual(range(0, 100_001));
    expect([stalled.seqs, calls.snapshot]).toEqual([[0], 0]);

    await stalled.read();
    appendTexts(ring, 1);
    await stalled.readFrames(3);
    expect(stalled.frames.map(({ id, event }) => [id, event])).toEqual([
      ['0', 'text'],
      ['100000', 'status'],
      ['100001', 'text'],
    ]);
    await Promise.all([stalled.cancel(), other.cancel()]);
  });

  test('has a chunk of small events only as large as a batch', async () => {
    const ring = new EventRing('s');
    const client = connect(ring);
    appendTexts(ring, 2_000);
    await client.readFrames(2_000);
    expect(client.seqs).toEqual(range(0, 2_000));
    expect(Math.max(...client.sizes)).toBeLessThanOrEqual(64 * 1024);
    expect(client.sizes.length).toBeLessThan(6);
    await client.cancel();
  });

  test('gets a large event in pieces of bounded size, which other events do not break', async () => {
    const ring = new EventRing('s');
    const client = connect(ring, { maxQueuedBytes: 1_000 });
    const large = ring.append(text('\u{1f600}é€'.repeat(1_000)));
    await client.read();
    appendTexts(ring, 2);
    await client.readFrames(3);
    expect(client.seqs).toEqual([0, 1, 2]);
    expect(client.frames[0]?.data).toBe(large.data);
    expect(Math.max(...client.sizes)).toBeLessThanOrEqual(1_000);
    expect(client.sizes.reduce((sum, size) => sum + size, 0)).toBe(
      new TextEncoder().encode(ring.after(-1)?.map(formatFrame).join('')).length,
    );
    await client.cancel();
  });

  test('gets an event of a batch and more in one chunk when it may', async () => {
    const ring = new EventRing('s');
    const client = connect(ring);
    ring.append(text('x'.repeat(200_000)));
    await client.read();
    expect([client.seqs, client.sizes.length]).toEqual([[0], 1]);
    await client.cancel();
  });

  test('amid a large event is let go once the ring moved on, and told when it returns', async () => {
    const ring = new EventRing('s', { maxEvents: 2 });
    const open = countSubscriptions(ring);
    const client = connect(ring, { lastEventId: -1, maxQueuedBytes: 1_000 });
    appendTexts(ring, 1);
    await client.read();
    ring.append(text('x'.repeat(10_000)));
    await client.read();
    appendTexts(ring, 2);
    expect(open.count).toBe(1);
    appendTexts(ring, 1);
    expect(open.count).toBe(0);
    await client.read();
    expect([client.isClosed, client.seqs]).toEqual([true, [0]]);

    const again = connect(ring, { lastEventId: 0 });
    await again.read();
    expect(again.frames).toMatchObject([{ id: '4', event: 'status' }]);
    await again.cancel();
  });
});

describe('a heartbeat', () => {
  test('comes whenever a reader waited for its time', async () => {
    fakeTimers();
    const ring = new EventRing('s');
    const client = connect(ring, { heartbeatMs: 1_000 });
    for (const beats of [1, 2, 3]) {
      const reading = client.read();
      await vi.advanceTimersByTimeAsync(999);
      expect(client.comments).toHaveLength(beats - 1);
      await vi.advanceTimersByTimeAsync(1);
      await reading;
      expect(client.comments).toHaveLength(beats);
    }
    expect(client.frames).toEqual([]);
    await client.cancel();
  });

  test('comes after 15 seconds unless another time is given', async () => {
    fakeTimers();
    const client = connect(new EventRing('s'));
    const reading = client.read();
    await vi.advanceTimersByTimeAsync(14_999);
    expect(client.comments).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    await reading;
    expect(client.comments).toHaveLength(1);
    await client.cancel();
  });

  test('is put off by every event, and loses none', async () => {
    fakeTimers();
    const ring = new EventRing('s');
    const client = connect(ring, { heartbeatMs: 1_000 });
    for (let count = 1; count <= 5; count += 1) {
      const reading = client.read();
      await vi.advanceTimersByTimeAsync(900);
      appendTexts(ring, 1);
      await reading;
    }
    expect([client.seqs, client.comments]).toEqual([[0, 1, 2, 3, 4], []]);
    const reading = client.read();
    await settle();
    vi.advanceTimersByTime(1_000); // and an event in the same moment
    appendTexts(ring, 1);
    await reading;
    await client.readFrames(6);
    expect([client.seqs, client.comments.length]).toEqual([[0, 1, 2, 3, 4, 5], 1]);
    await client.cancel();
  });

  test('is not made for a reader that does not read', async () => {
    fakeTimers();
    const ring = new EventRing('s');
    const client = connect(ring);
    appendTexts(ring, 1);
    await client.read();
    await vi.advanceTimersByTimeAsync(100_000);
    expect(vi.getTimerCount()).toBe(0);
    appendTexts(ring, 1);
    await client.read();
    expect([client.seqs, client.comments]).toEqual([[0, 1], []]);
    await client.cancel();
  });
});
