import { serdeJsonString } from '@celestea/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { FramePieces } from '../src/events/frame-pieces.ts';
import {
  commentFrame,
  EventRing,
  formatFrame,
  parseLastEventId,
  retryFrame,
  type StoredEvent,
} from '../src/events/index.ts';
import { contractFaults, envelopeOf, Parsed, text } from './events-support.ts';

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
  {
    get broken() {
      throw new Error(HOSTILE);
    },
  },
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
    expect(formatFrame(ring.append(text('b')))).toBe(
      'id: 1\nevent: text\ndata: ' +
        '{"v":1,"session":"s","turn":"turn-0","seq":1,"payload":{"delta":"b"}}\n\n',
    );
  });

  test.each(VALUES.map((value, index) => [index, value]))(
    'comes over whole, whatever a tool was called with (%i)',
    (_, args) => {
      const ring = new EventRing(HOSTILE);
      const payload = { id: HOSTILE, name: HOSTILE, args };
      const stored = ring.append({ name: 'tool', turn: HOSTILE, payload });
      expect(formatFrame(stored).split(ANY_LINE_END)).toHaveLength(5);

      const bytes = encoder.encode(formatFrame(stored));
      for (const sizes of [[1], [2], [3], [7, 1], [bytes.length]]) {
        const { frames, comments, retries } = parse(bytes, sizes);
        expect(frames).toEqual([{ id: '0', event: 'tool', data: stored.data }]);
        expect([comments, retries]).toEqual([[], []]);
      }
      expect(contractFaults({ event: 'tool', data: stored.data })).toEqual([]);
      expect(envelopeOf(stored)).toEqual({
        v: 1,
        session: HOSTILE,
        turn: HOSTILE,
        seq: 0,
        payload: JSON.parse(serdeJsonString(payload)) as unknown,
      });
    },
  );

  test('comes over whole among others, wherever the bytes are cut', () => {
    const step = fc.record({ delta: hostileText, comment: hostileText, ms: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), cuts, (steps, sizes) => {
        const ring = new EventRing('s');
        const stored = steps.map(({ delta }) => ring.append(text(delta)));
        const all = steps.map(({ comment, ms }, index) => {
          const frame = stored[index];
          return frame && commentFrame(comment) + formatFrame(frame) + retryFrame(ms);
        });
        const { frames, retries } = parse(encoder.encode(all.join('')), sizes);
        expect(frames.map(({ data }) => data)).toEqual(stored.map(({ data }) => data));
        expect(frames.map((frame) => envelopeOf(frame).payload['delta'])).toEqual(
          steps.map(({ delta }) => delta),
        );
        expect(frames.map(({ id }) => id)).toEqual(stored.map(({ seq }) => String(seq)));
        expect(frames.flatMap(contractFaults)).toEqual([]);
        expect(retries).toEqual(steps.map(({ ms }) => ms));
      }),
    );
  });

  test('is refused where it would break', () => {
    const good: StoredEvent = { seq: 0, name: 'text', data: '{}', bytes: 2 };
    const refused: [Partial<Record<keyof StoredEvent, unknown>>, RegExp][] = [
      [{ seq: -1 }, /^event\.seq: /],
      [{ seq: '1\n' }, /^event\.seq: /],
      [{ name: 'a\nb' }, /^event\.name: /],
      [{ data: '{\n}' }, /^event\.data: expected a text of one line/],
      [{ data: '{\r}' }, /^event\.data: /],
      [{ data: 5 }, /^event\.data: /],
    ];
    for (const [part, message] of refused) {
      const frame = (): string => formatFrame({ ...good, ...part } as StoredEvent);
      expect(frame).toThrow(TypeError);
      expect(frame).toThrow(message);
    }
    expect(() => formatFrame(null as never)).toThrow(/^event: expected an object, got null$/);
  });
});

describe('a comment', () => {
  test('is one line for each of its text, and no reader takes it for more', () => {
    expect(commentFrame('')).toBe(': \n\n');
    expect(commentFrame('a\r\nb\u2028c\rd')).toBe(': a\n: b\n: c\n: d\n\n');
    fc.assert(
      fc.property(hostileText, cuts, (comment, sizes) => {
        const { frames, retries, comments } = parse(encoder.encode(commentFrame(comment)), sizes);
        expect([frames, retries]).toEqual([[], []]);
        expect(comments).toHaveLength(commentFrame(comment).split('\n').length - 2);
      }),
    );
    expect(() => commentFrame(null as never)).toThrow(/^text: expected a text, got null$/);
  });
});

describe('the time to wait', () => {
  test('is a whole number of milliseconds', () => {
    expect(retryFrame(1500)).toBe('retry: 1500\n\n');
    expect(() => retryFrame(-1)).toThrow(/^ms: expected a whole number of at least 0, got -1$/);
    expect(() => retryFrame(0.5)).toThrow(TypeError);
  });
});

describe('the pieces of a large frame', () => {
  test('make up its bytes and part no code point, whatever their size', () => {
    const parts = ['id: 0\n', `aé€\u{1f600}${'\u{1f601}€'.repeat(5)}`, '', '\n\n'];
    const whole = encoder.encode(parts.join(''));
    for (let size = 4; size <= whole.length + 1; size += 1) {
      const pieces = new FramePieces(parts, whole.length);
      const taken: Uint8Array[] = [];
      while (!pieces.isOver) taken.push(pieces.take(size));
      const decoder = new TextDecoder('utf-8', { fatal: true });
      expect(taken.map((piece) => decoder.decode(piece)).join('')).toBe(parts.join(''));
      expect(taken.every((piece) => piece.length > 0 && piece.length <= size)).toBe(true);
      expect(taken.reduce((bytes, piece) => bytes + piece.length, 0)).toBe(whole.length);
      expect(taken.at(-1)?.buffer.byteLength).toBe(taken.at(-1)?.length); // no memory for nothing
    }
  });

  test('make up any text', () => {
    const texts = fc.array(fc.string({ unit: 'binary' }).map((part) => part.toWellFormed()));
    fc.assert(
      fc.property(texts, fc.integer({ min: 4, max: 30 }), (parts, size) => {
        const whole = encoder.encode(parts.join(''));
        const pieces = new FramePieces(parts, whole.length);
        const taken: number[] = [];
        while (!pieces.isOver) taken.push(...pieces.take(size));
        expect(taken).toEqual([...whole]);
      }),
    );
  });
});

describe('a Last-Event-ID', () => {
  test.each<[string | null | undefined, number | null]>([
    ['0', 0],
    ['41', 41],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740992', null],
    ['9'.repeat(400), null],
    ['', null],
    ['-1', null],
    ['+1', null],
    ['1.0', null],
    ['1e3', null],
    ['0x10', null],
    [' 1', null],
    ['1\n', null],
    ['1\n2', null],
    ['١', null],
    [null, null],
    [undefined, null],
  ])('%j is read as %j', (given, seq) => {
    expect(parseLastEventId(given)).toBe(seq);
  });

  test('is read back from any frame', () => {
    const ring = new EventRing('s');
    const frame = formatFrame(ring.append(text('x')));
    const { frames } = parse(encoder.encode(frame), [5]);
    expect(frames.map(({ id }) => parseLastEventId(id))).toEqual([0]);
  });

  test('that is no text is none', () => {
    expect(parseLastEventId(7 as never)).toBeNull();
  });
});
