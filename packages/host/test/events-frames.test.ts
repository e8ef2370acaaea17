import { serdeJsonString } from '@celestea/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { HEARTBEAT, retryFrame } from '../src/events/frames.ts';
import { EventRing } from '../src/events/ring.ts';
import { contractFaults, dataOf, envelopeOf, lastFrame, Parsed, text } from './events-support.ts';

const encoder = new TextEncoder();

/** All that Unicode, Python or a careless reader takes for the end of a line, and more. */
const ANY_LINE_END = /[\p{Cc}\u2028\u2029]/u;

const HOSTILE = '\r\n\n data: x\r\r\u2028\u2029\u0085\0\ud800 \udfff\ufeff\v\f\x1c"\\\u{1f600}é';

const cycle: Record<string, unknown> = { name: HOSTILE };
cycle['self'] = cycle;

const VALUES: readonly unknown[] = [
  HOSTILE,
  { [HOSTILE]: HOSTILE },
  cycle,
  [cycle, cycle],
  {
    toJSON: () => {
      throw new Error(HOSTILE);
    },
  },
  { toJSON: () => HOSTILE },
  [undefined, NaN, Infinity, () => 0, Symbol('s'), 1n, new Date(Number.NaN)],
  Array.from({ length: 200 }).reduce<unknown>((inner) => [inner], HOSTILE),
  '\n\nid: 99\nevent: done\ndata: {}\n\n',
];

const hostileText = fc
  .array(fc.oneof(fc.constantFrom(...Array.from(HOSTILE)), fc.string({ unit: 'binary', maxLength: 4 })))
  .map((parts) => parts.join(''));

/** Cuts bytes at random places, and often into single ones. */
const cuts = fc.oneof(
  fc.constant([1]),
  fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 }),
);

function parse(bytes: Uint8Array, sizes: readonly number[]): Parsed {
  const parsed = new Parsed();
  for (let [at, cut] = [0, 0]; at < bytes.length; cut += 1) {
    const size = sizes[cut % sizes.length] ?? 1;
    parsed.feed(bytes.subarray(at, at + size));
    at += size;
  }
  return parsed;
}

describe('a frame', () => {
  test('has an id, a name, its data and a blank line', () => {
    const ring = new EventRing('s');
    ring.append(text('a'));
    ring.append(text('b'));
    expect(lastFrame(ring)).toBe(
      'id: 1\nevent: text\ndata: ' +
        '{"v":1,"session":"s","turn":"turn-0","seq":1,"payload":{"delta":"b"}}\n\n',
    );
  });

  test.each(VALUES.map((value, index) => [index, value]))(
    'comes over whole, whatever a tool was called with (%i)',
    (_, args) => {
      const ring = new EventRing(HOSTILE);
      const payload = { id: HOSTILE, name: HOSTILE, args };
      ring.append({ name: 'tool', turn: HOSTILE, payload });
      const frame = lastFrame(ring);
      const data = dataOf(frame);
      expect(frame.split(ANY_LINE_END)).toHaveLength(5);

      const bytes = encoder.encode(frame);
      for (const sizes of [[1], [2], [3], [7, 1], [bytes.length]]) {
        const { frames, comments, retries } = parse(bytes, sizes);
        expect(frames).toEqual([{ id: '0', event: 'tool', data }]);
        expect([comments, retries]).toEqual([[], []]);
      }
      expect(contractFaults({ event: 'tool', data })).toEqual([]);
      expect(envelopeOf({ data })).toEqual({
        v: 1,
        session: HOSTILE,
        turn: HOSTILE,
        seq: 0,
        payload: JSON.parse(serdeJsonString(payload)) as unknown,
      });
    },
  );

  test('comes over whole among others, wherever the bytes are cut', () => {
    const step = fc.record({ delta: hostileText, ms: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), cuts, (steps, sizes) => {
        const ring = new EventRing('s');
        const all = steps.map(({ delta, ms }) => {
          ring.append(text(delta));
          return HEARTBEAT + lastFrame(ring) + retryFrame(ms);
        });
        const { frames, retries, comments } = parse(encoder.encode(all.join('')), sizes);
        expect(frames.map(({ data }) => data)).toEqual(all.map(dataOf));
        expect(frames.map((frame) => envelopeOf(frame).payload['delta'])).toEqual(
          steps.map(({ delta }) => delta),
        );
        expect(frames.map(({ id }) => id)).toEqual(steps.map((_, seq) => String(seq)));
        expect(frames.flatMap(contractFaults)).toEqual([]);
        expect(retries).toEqual(steps.map(({ ms }) => ms));
        expect(comments).toHaveLength(steps.length);
      }),
    );
  });

  test('is written as {} when its payload is longer than any frame could be', () => {
    const ring = new EventRing('s');
    ring.append(text('x'.repeat(2 ** 26)));
    expect(dataOf(lastFrame(ring))).toMatch(/"payload":\{\}\}$/);
  });
});
