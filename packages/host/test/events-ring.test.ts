import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { EventRing } from '../src/events/ring.ts';
import { appendTexts, text } from './events-support.ts';

/** What of a ring is kept. */
const kept = (ring: EventRing): number[] => {
  const all = Array.from({ length: ring.lastSeq + 1 }, (_, seq) => seq);
  return all.filter((seq) => ring.frame(seq) !== undefined);
};

describe('what is kept', () => {
  test('is all, within the count, and then the newest', () => {
    const ring = new EventRing('s', { maxEvents: 3 });
    expect([ring.lastSeq, ring.firstSeq]).toEqual([-1, 0]);
    appendTexts(ring, 3);
    expect([kept(ring), ring.firstSeq]).toEqual([[0, 1, 2], 0]);
    appendTexts(ring, 2);
    expect([kept(ring), ring.firstSeq, ring.lastSeq]).toEqual([[2, 3, 4], 2, 4]);
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
  });

  test('is one event alone when it is larger than the ring', () => {
    const ring = new EventRing('s', { maxBytes: 300 });
    appendTexts(ring, 2);
    ring.append(text('x'.repeat(1_000)));
    expect(kept(ring)).toEqual([2]);
    appendTexts(ring, 1);
    expect(kept(ring)).toEqual([3]);
  });

  test('is the longest tail that fits, whatever the sizes', () => {
    const limits = fc.record({
      maxBytes: fc.integer({ min: 1, max: 2_000 }),
      maxEvents: fc.integer({ min: 1, max: 12 }),
    });
    const sizes = fc.array(fc.nat(500), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(limits, sizes, ({ maxBytes, maxEvents }, lengths) => {
        const ring = new EventRing('s', { maxBytes, maxEvents });
        const all = lengths.map((length) => {
          ring.append(text('x'.repeat(length)));
          return ring.frame(ring.lastSeq)?.length ?? 0;
        });
        const fits = (tail: number[]): boolean =>
          tail.reduce((sum, bytes) => sum + bytes, 0) <= maxBytes && tail.length <= maxEvents;
        let from = all.length - 1;
        while (from > 0 && fits(all.slice(from - 1))) from -= 1;
        expect(kept(ring)).toEqual([...all.keys()].slice(from));
        for (const seq of all.keys()) expect(ring.holdsAfter(seq)).toBe(seq >= from - 1);
      }),
    );
  });

  test('is not asked for by the number of another life', () => {
    const ring = new EventRing('s');
    expect([-2, -1, 0, 7].map((seq) => ring.holdsAfter(seq))).toEqual([false, true, false, false]);
    appendTexts(ring, 1);
    expect([-2, 0, 1].map((seq) => ring.holdsAfter(seq))).toEqual([false, true, false]);
    const later = new EventRing('s', { startAt: 5000 });
    expect([17, 4999].map((seq) => later.holdsAfter(seq))).toEqual([false, true]);
    appendTexts(later, 1);
    expect([later.lastSeq, later.holdsAfter(17), later.holdsAfter(4999)]).toEqual([
      5000,
      false,
      true,
    ]);
  });
});

test('a listener hears of each event before append returns, until it leaves', () => {
  const ring = new EventRing('s');
  const heard: number[] = [];
  appendTexts(ring, 1);
  const leave = ring.subscribe(() => heard.push(ring.lastSeq));
  appendTexts(ring, 2);
  expect(heard).toEqual([1, 2]);
  leave();
  appendTexts(ring, 1);
  expect(heard).toHaveLength(2);
});
