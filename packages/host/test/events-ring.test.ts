import { serdeJsonString } from '@celestea/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { EventRing, type HostEvent, type StoredEvent } from '../src/events/index.ts';
import { appendTexts, contractFaults, envelopeOf, NAMES, text } from './events-support.ts';

const seqs = (events: readonly StoredEvent[] | null): number[] | null =>
  events === null ? null : events.map(({ seq }) => seq);

const sum = (events: readonly StoredEvent[]): number =>
  events.reduce((bytes, event) => bytes + event.bytes, 0);

describe('what is appended', () => {
  test('gets its envelope and the next number, from 0', () => {
    const ring = new EventRing('s1');
    expect([ring.lastSeq, ring.firstSeq]).toEqual([-1, 0]);
    const first = ring.append(text('Hé'));
    const second = ring.append({ name: 'status', turn: null, payload: { phase: 'idle' } });
    expect(first).toEqual({
      seq: 0,
      name: 'text',
      data: '{"v":1,"session":"s1","turn":"turn-0","seq":0,"payload":{"delta":"Hé"}}',
      bytes: 72,
    });
    expect(second).toMatchObject({ seq: 1, name: 'status' });
    expect(envelopeOf(second)).toEqual({
      v: 1,
      session: 's1',
      turn: null,
      seq: 1,
      payload: { phase: 'idle' },
    });
    expect([ring.lastSeq, ring.firstSeq]).toEqual([1, 0]);
    expect(ring.get(1)).toBe(second);
  });

  test('is the same text for the same payload, whatever the order of its keys', () => {
    const [one, other] = [new EventRing('s'), new EventRing('s')];
    const a = one.append({ name: 'status', turn: null, payload: { phase: 'x', b: 1, a: 2 } });
    const b = other.append({ name: 'status', turn: null, payload: { a: 2, b: 1, phase: 'x' } });
    expect(a.data).toBe(b.data);
  });

  test('counts its bytes as UTF-8, and nobody can change it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (delta) => {
        const stored = new EventRing('s').append(text(delta));
        expect(stored.bytes).toBe(new TextEncoder().encode(stored.data).length);
        expect(Object.isFrozen(stored)).toBe(true);
        expect(contractFaults({ event: stored.name, data: stored.data })).toEqual([]);
      }),
    );
  });

  test('is written whatever the payload is', () => {
    const ring = new EventRing('s');
    const throwing = {
      toJSON: () => {
        throw new Error('no');
      },
    };
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    for (const payload of [null, undefined, 7, 'x', [], throwing, () => 0, revoked.proxy]) {
      const { data } = ring.append({ name: 'status', turn: null, payload } as unknown as HostEvent);
      expect(envelopeOf({ data }).payload).toEqual({});
    }
    expect(ring.lastSeq).toBe(7);
  });

  test('is written as {} when it is longer than any frame could be', () => {
    const delta = 'x'.repeat(2 ** 26);
    const ring = new EventRing('s');
    expect(envelopeOf(ring.append(text(delta))).payload).toEqual({});
    expect(ring.append(text(delta.slice(20))).bytes).toBeGreaterThan(2 ** 26);
  });

  test('keeps its number when its payload appends while it is written', () => {
    const ring = new EventRing('s');
    const heard: number[] = [];
    ring.subscribe(({ seq }) => heard.push(seq));
    const payload = {
      phase: 'outer',
      get inner() {
        return ring.append({ name: 'status', turn: null, payload: { phase: 'inner' } }).seq;
      },
    };
    const outer = ring.append({ name: 'status', turn: null, payload });
    expect(outer.seq).toBe(ring.lastSeq);
    expect(heard).toEqual([...heard.keys()]);
    expect(seqs(ring.after(-1))).toEqual(heard);
  });

  test.each(NAMES)('may be named %s', (name) => {
    const stored = new EventRing('s').append({ name, turn: null, payload: {} } as HostEvent);
    expect(stored.name).toBe(name);
  });
});

describe('what is kept', () => {
  test('is all, within the count, and then the newest', () => {
    const ring = new EventRing('s', { maxEvents: 3 });
    appendTexts(ring, 3);
    expect(seqs(ring.after(-1))).toEqual([0, 1, 2]);
    appendTexts(ring, 2);
    expect(seqs(ring.after(1))).toEqual([2, 3, 4]);
    expect(ring.firstSeq).toBe(2);
    expect(ring.get(1)).toBeUndefined();
  });

  test('is 10,000 events unless another limit is given', () => {
    const ring = new EventRing('s');
    appendTexts(ring, 10_001);
    expect(ring.firstSeq).toBe(1);
  });

  test('is 4 MiB unless another limit is given', () => {
    const ring = new EventRing('s');
    appendTexts(ring, 5, 'x'.repeat(1024 * 1024 - 200));
    expect(ring.firstSeq).toBe(1);
    expect(sum(ring.after(0) ?? [])).toBeLessThanOrEqual(4 * 1024 * 1024);
  });

  test('is one event alone when it is larger than the ring', () => {
    const ring = new EventRing('s', { maxBytes: 300 });
    appendTexts(ring, 2);
    ring.append(text('x'.repeat(1_000)));
    expect(seqs(ring.after(1))).toEqual([2]);
    expect(ring.after(0)).toBeNull();
    appendTexts(ring, 1);
    expect(seqs(ring.after(2))).toEqual([3]);
    expect(ring.after(1)).toBeNull();
  });

  test('is the longest tail that fits, whatever the sizes', () => {
    const limits = fc.record({
      maxBytes: fc.integer({ min: 1, max: 2_000 }),
      maxEvents: fc.integer({ min: 1, max: 12 }),
    });
    const sizes = fc.array(fc.nat(500), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(limits, sizes, (limit, lengths) => {
        const ring = new EventRing('s', limit);
        const all = lengths.map((length) => ring.append(text('x'.repeat(length))));
        let from = all.length - 1;
        const fits = (tail: StoredEvent[]): boolean =>
          sum(tail) <= limit.maxBytes && tail.length <= limit.maxEvents;
        while (from > 0 && fits(all.slice(from - 1))) from -= 1;
        expect(ring.after(from - 1)).toEqual(all.slice(from));
        for (const { seq } of all) {
          const expected = seq >= from - 1 ? all.slice(seq + 1) : null;
          expect(ring.after(seq)).toEqual(expected);
          expect(ring.holdsAfter(seq)).toBe(expected !== null);
        }
      }),
    );
  });

  test('is not asked for by the number of another life', () => {
    const ring = new EventRing('s');
    expect(ring.after(-1)).toEqual([]);
    expect([ring.after(0), ring.after(7), ring.after(-2)]).toEqual([null, null, null]);
    appendTexts(ring, 1);
    expect(ring.after(0)).toEqual([]);
    expect([ring.after(1), ring.after(-2)]).toEqual([null, null]);
  });
});

describe('a subscriber', () => {
  test('hears of each event before append returns, until it leaves', () => {
    const ring = new EventRing('s');
    const heard: StoredEvent[] = [];
    appendTexts(ring, 1);
    const leave = ring.subscribe((event) => heard.push(event));
    const second = ring.append(text('b'));
    expect(heard).toEqual([second]);
    leave();
    leave();
    appendTexts(ring, 1);
    expect(heard).toHaveLength(1);
  });

  test('is not disturbed by another that throws or rejects', async () => {
    const ring = new EventRing('s');
    const heard: number[] = [];
    ring.subscribe(() => {
      throw new Error('mine alone');
    });
    ring.subscribe(() => Promise.reject(new Error('mine alone')));
    ring.subscribe(({ seq }) => heard.push(seq));
    expect(ring.append(text('a')).seq).toBe(0);
    expect(ring.append(text('b')).seq).toBe(1);
    expect(heard).toEqual([0, 1]);
    await Promise.resolve();
  });

  test('hears of events in order, though another appends while it listens', () => {
    const ring = new EventRing('s');
    const heard: number[][] = [[], []];
    ring.subscribe(({ seq }) => {
      heard[0]?.push(seq);
      if (seq < 3) appendTexts(ring, 2);
    });
    ring.subscribe(({ seq }) => heard[1]?.push(seq));
    appendTexts(ring, 1);
    expect(heard).toEqual([
      [0, 1, 2, 3, 4, 5, 6],
      [0, 1, 2, 3, 4, 5, 6],
    ]);
  });

  test('that comes or goes while an event is told is in time for the next', () => {
    const ring = new EventRing('s');
    const heard: string[] = [];
    const leaves: (() => void)[] = [];
    ring.subscribe(({ seq }) => {
      for (const leave of leaves.splice(0)) leave();
      if (seq === 0) ring.subscribe((event) => heard.push(`new ${String(event.seq)}`));
    });
    leaves.push(ring.subscribe(({ seq }) => heard.push(`old ${String(seq)}`)));
    appendTexts(ring, 2);
    expect(heard).toEqual(['new 1']);
  });

  test('may be there twice, and leave once', () => {
    const ring = new EventRing('s');
    const heard: number[] = [];
    const listener = ({ seq }: StoredEvent): unknown => heard.push(seq);
    const leave = ring.subscribe(listener);
    ring.subscribe(listener);
    appendTexts(ring, 1);
    leave();
    appendTexts(ring, 1);
    expect(heard).toEqual([0, 0, 1]);
  });
});

describe('a misuse is a TypeError that says so', () => {
  const ring = new EventRing('s');
  const append = (event: unknown) => () => ring.append(event as HostEvent);

  test.each<[string, () => unknown, RegExp]>([
    ['no session', () => new EventRing(''), /^session: expected a text that is not empty, got ""$/],
    ['a session of 5', () => new EventRing(5 as never), /^session: .* got 5$/],
    ['options null', () => new EventRing('s', null as never), /^options: expected an object/],
    ['0 bytes', () => new EventRing('s', { maxBytes: 0 }), /^options\.maxBytes: .* at least 1, got 0$/],
    ['NaN events', () => new EventRing('s', { maxEvents: NaN }), /^options\.maxEvents: .* NaN$/],
    ['no event', append(null), /^event: expected an object, got null$/],
    ['an unknown name', append({ name: 'x\n', turn: null, payload: {} }), /^event\.name: expected one of text, /],
    ['an inherited name', append({ name: 'toString', turn: null, payload: {} }), /^event\.name: /],
    ['no turn', append({ name: 'text', payload: {} }), /^event\.turn: expected a text or null, got undefined$/],
    ['half a seq', () => ring.after(0.5), /^seq: expected a whole number/],
    ['no listener', () => ring.subscribe(undefined as never), /^listener: expected a function/],
  ])('%s', (_, misuse, message) => {
    expect(misuse).toThrow(TypeError);
    expect(misuse).toThrow(message);
    expect(ring.lastSeq).toBe(-1);
  });
});

test('a session and a turn of any text are escaped, too', () => {
  const session = 'a"\u2028\r\n\0\ud800';
  const stored = new EventRing(session).append(text('', '\u2029\u0085'));
  expect(envelopeOf(stored)).toMatchObject({ session, turn: '\u2029\u0085' });
  expect(stored.data).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
  expect(serdeJsonString(envelopeOf(stored).payload)).toBe('{"delta":""}');
});

test('a reader of a former ring is told that it missed what this one cannot know', () => {
  const ring = new EventRing('s', { startAt: 5000 });
  expect(ring.after(17)).toBeNull();
  expect(ring.after(4999)).toEqual([]);
  expect(ring.append({ name: 'text', turn: null, payload: {} }).seq).toBe(5000);
  expect(ring.after(17)).toBeNull();
  expect(ring.after(4999)?.map(({ seq }) => seq)).toEqual([5000]);
  expect(() => new EventRing('s', { startAt: -1 })).toThrow(TypeError);
});
