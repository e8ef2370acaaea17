import { describe, expect, test, vi } from 'vitest';

import { EventRing } from '../src/events/index.ts';
import {
  appendTexts,
  connect,
  contractFaults,
  dataOf,
  envelopeOf,
  joined,
  lastFrame,
  settle,
  text,
} from './events-support.ts';

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

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
    ring.append(text('a'));
    await reading;
    expect(client.frames).toEqual([{ id: '0', event: 'text', data: dataOf(lastFrame(ring)) }]);
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

  test('is told first how long to wait before it connects again', async () => {
    const ring = new EventRing('s');
    const client = connect(ring, { retryMs: 2_000 });
    appendTexts(ring, 1);
    await client.read();
    expect([client.retries, client.seqs]).toEqual([[2_000], [0]]);
    await client.cancel();
  });
});

describe('a reader that the ring left behind', () => {
  const reply = { text: '\r\n\u2028\ud800', thinking: '' };
  const running = { turn: 'turn-0', input: 'go', started_ms: 1, step: 1, reply, waiting: [] };
  const snapshot = () => ({ running, approvals: [] });

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

  test('misses nothing that is appended while the snapshot is made', async () => {
    const ring = new EventRing('s');
    const client = connect(ring, {
      lastEventId: 4,
      snapshot: () => {
        appendTexts(ring, 2);
        return snapshot();
      },
    });
    await client.readFrames(3);
    expect(client.frames.map(({ event }) => event)).toEqual(['status', 'text', 'text']);
    expect(client.seqs.slice(1)).toEqual([0, 1]);
    await client.cancel();
  });
});

describe('a reader that stalls', () => {
  const snapshot = () => ({ running: null, approvals: [] });

  test('gets all it missed, in chunks of bounded size, as far as the ring holds it', async () => {
    const ring = new EventRing('s');
    const client = connect(ring);
    appendTexts(ring, 1);
    await client.read();
    appendTexts(ring, 9_000);
    await client.readFrames(9_001);
    expect(client.seqs).toEqual(range(0, 9_001));
    expect(Math.max(...client.sizes)).toBeLessThanOrEqual(64 * 1024);
    await client.cancel();
  });

  test('has nothing queued for it, and slows neither the ring nor another reader', async () => {
    const ring = new EventRing('s', { maxEvents: 500 });
    const calls = { snapshot: 0 };
    const stalled = connect(ring, {
      snapshot: () => {
        calls.snapshot += 1;
        return snapshot();
      },
    });
    const other = connect(ring);
    appendTexts(ring, 1);
    await Promise.all([stalled.read(), other.read()]);
    for (let round = 0; round < 20; round += 1) {
      const reading = other.readFrames(other.frames.length + 100);
      appendTexts(ring, 100, 'x'.repeat(100));
      await reading;
    }
    expect(other.seqs).toEqual(range(0, 2_001));
    expect([stalled.seqs, calls.snapshot]).toEqual([[0], 0]);

    await stalled.read();
    appendTexts(ring, 1);
    await stalled.readFrames(3);
    expect(stalled.frames.map(({ id, event }) => [id, event])).toEqual([
      ['0', 'text'],
      ['2000', 'status'],
      ['2001', 'text'],
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

  test('gets an event of a batch and more in one chunk, which all readers share', async () => {
    const ring = new EventRing('s');
    const client = connect(ring);
    ring.append(text('x'.repeat(200_000)));
    await client.read();
    expect([client.seqs, client.sizes.length]).toEqual([[0], 1]);
    await client.cancel();
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

describe('the end of a stream', () => {
  test.each(['before the first read', 'while it waits', 'between two reads'])(
    'leaves no timer and no listener, by cancel or close, %s',
    async (when) => {
      fakeTimers();
      for (const ending of ['cancel', 'close']) {
        const ring = new EventRing('s');
        const client = connect(ring);
        const [close] = joined;
        const isWaiting = when === 'while it waits';
        appendTexts(ring, 1);
        if (when !== 'before the first read') await client.read();
        const reading = isWaiting ? client.read() : null;
        await settle();
        expect([joined.size, vi.getTimerCount()]).toEqual([1, isWaiting ? 1 : 0]);

        if (ending === 'cancel') await client.cancel();
        else close?.();
        expect([joined.size, vi.getTimerCount()]).toEqual([0, 0]);
        appendTexts(ring, 1);
        await (reading ?? client.read());
        await settle();
        expect([client.isClosed, vi.getTimerCount()]).toEqual([true, 0]);
        close?.();
        await client.cancel();
      }
    },
  );

  test.each(['while it joins', 'while the snapshot is made'])('may come %s', async (when) => {
    let left = 0;
    let closeIt: () => void = () => undefined;
    const client = connect(new EventRing('s'), {
      lastEventId: 4,
      join: (close) => {
        closeIt = close;
        if (when === 'while it joins') close();
        return () => {
          left += 1;
        };
      },
      snapshot: () => {
        closeIt();
        return { running: null, approvals: [] };
      },
    });
    await client.read();
    expect([client.isClosed, client.frames, left]).toEqual([true, [], 1]);
  });
});
