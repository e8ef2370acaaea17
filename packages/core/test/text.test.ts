import fc from 'fast-check';
import { expect, test } from 'vitest';

import { cutMiddle, utf8Length, type CutText } from '@celestea/core';

const HIGH = '\ud83d';
const LOW = '\ude00';

/** Texts of any code units, and of well-formed text where every width of UTF-8 is common. */
const wildText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.integer({ min: 0xd800, max: 0xdfff }),
      fc.constantFrom(0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xdbff, 0xdc00, 0xdfff, 0xe000),
    ),
    { maxLength: 24 },
  )
  .map((units) => String.fromCharCode(...units));
const wellFormedText = fc
  .array(fc.constantFrom('a', '\n', 'é', '漢', '\uffff', HIGH + LOW, '\u{10ffff}'), {
    maxLength: 24,
  })
  .map((parts) => parts.join(''));
const anyText = fc.oneof(wildText, wellFormedText);

/** Bytes of a text's code points, one by one, as Node counts them. */
const pointSizes = (text: string): number[] =>
  Array.from(text, (point) => Buffer.byteLength(point, 'utf8'));

/** How many of the sizes, from the first on, fit into `bytes` together. */
function fitting(sizes: readonly number[], bytes: number): number {
  let sum = 0;
  const next = sizes.findIndex((size) => (sum += size) > bytes);
  return next < 0 ? sizes.length : next;
}

/** The cut as the rule says it, over code points. */
function expectedCut(text: string, headBytes: number, tailBytes: number): CutText | null {
  const points = Array.from(text);
  const sizes = pointSizes(text);
  const totalBytes = sizes.reduce((sum, size) => sum + size, 0);
  if (totalBytes <= headBytes + tailBytes) return null;
  const head = fitting(sizes, headBytes);
  const tail = points.length - fitting(sizes.toReversed(), tailBytes);
  return {
    head: points.slice(0, head).join(''),
    tail: points.slice(tail).join(''),
    totalBytes,
    omittedBytes: sizes.slice(head, tail).reduce((sum, size) => sum + size, 0),
  };
}

test.each([
  ['', 0],
  ['a', 1],
  ['\u007f\u0080\u07ff\u0800\uffff', 11],
  [HIGH + LOW, 4],
  [HIGH, 3],
  [LOW, 3],
  [LOW + HIGH, 6],
  [HIGH + HIGH + LOW + LOW, 10],
  [`${HIGH}a${LOW}`, 7],
])('L5.2 X12 the text %j has %d bytes', (text, bytes) => {
  expect(utf8Length(text)).toBe(bytes);
});

test('L5.2 X12 bytes are counted as Node does, and code point by code point', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text, 'utf8'));
      expect(utf8Length(text)).toBe(pointSizes(text).reduce((sum, size) => sum + size, 0));
    }),
    { numRuns: 1000 },
  );
});

/** Long enough to be counted in several pieces, which may end at any place in it. */
const longText = fc
  .tuple(fc.array(anyText, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 3000 }))
  .map(([parts, times]) => parts.join('').repeat(times));

test('L5.2 X12 long texts are counted the same, wherever a piece of them ends', () => {
  let most = 0;
  fc.assert(
    fc.property(longText, (text) => {
      most = Math.max(most, text.length);
      expect(utf8Length(text)).toBe(Buffer.byteLength(text, 'utf8'));
    }),
    { numRuns: 300 },
  );
  expect(most).toBeGreaterThan(20_000);
});

test.each<[text: string, head: number, tail: number, cut: CutText | null]>([
  ['', 0, 0, null],
  ['abc', 2, 1, null],
  ['abc', 3, 0, null],
  ['abc', 0, 3, null],
  ['abc', 100, 100, null],
  ['abc', 1, 1, { head: 'a', tail: 'c', totalBytes: 3, omittedBytes: 1 }],
  ['abc', 0, 0, { head: '', tail: '', totalBytes: 3, omittedBytes: 3 }],
  ['abc', 2, 0, { head: 'ab', tail: '', totalBytes: 3, omittedBytes: 1 }],
  ['abc', 0, 2, { head: '', tail: 'bc', totalBytes: 3, omittedBytes: 1 }],
  ['aéb', 2, 1, { head: 'a', tail: 'b', totalBytes: 4, omittedBytes: 2 }],
  ['漢字', 5, 0, { head: '漢', tail: '', totalBytes: 6, omittedBytes: 3 }],
  [HIGH + LOW, 3, 0, { head: '', tail: '', totalBytes: 4, omittedBytes: 4 }],
  [HIGH + LOW, 0, 3, { head: '', tail: '', totalBytes: 4, omittedBytes: 4 }],
  [HIGH + LOW + LOW, 0, 3, { head: '', tail: LOW, totalBytes: 7, omittedBytes: 4 }],
  [HIGH + HIGH + LOW, 3, 0, { head: HIGH, tail: '', totalBytes: 7, omittedBytes: 4 }],
  [HIGH + HIGH + LOW, 0, 6, { head: '', tail: HIGH + LOW, totalBytes: 7, omittedBytes: 3 }],
])('X12 %j cut to %d and %d bytes', (text, head, tail, cut) => {
  expect(cutMiddle(text, head, tail)).toStrictEqual(cut);
});

const size = fc.oneof(fc.nat(12), fc.nat(80), fc.double({ min: 0, max: 40, noNaN: true }));

test('X12 a cut keeps what fits, to the byte, and counts what it leaves out', () => {
  const seen = { whole: 0, cut: 0 };
  fc.assert(
    fc.property(anyText, size, size, (text, headBytes, tailBytes) => {
      const cut = cutMiddle(text, headBytes, tailBytes);
      expect(cut).toStrictEqual(expectedCut(text, headBytes, tailBytes));
      seen[cut === null ? 'whole' : 'cut'] += 1;
      if (cut === null) return;
      const { head, tail, omittedBytes, totalBytes } = cut;
      const kept = Buffer.byteLength(head, 'utf8') + Buffer.byteLength(tail, 'utf8');
      expect(Buffer.byteLength(head, 'utf8')).toBeLessThanOrEqual(headBytes);
      expect(Buffer.byteLength(tail, 'utf8')).toBeLessThanOrEqual(tailBytes);
      expect(omittedBytes + kept).toBe(totalBytes);
      expect(totalBytes).toBe(Buffer.byteLength(text, 'utf8'));
      expect(omittedBytes).toBeGreaterThan(0);
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      expect(head.length + tail.length).toBeLessThan(text.length);
    }),
    { numRuns: 1500 },
  );
  expect(Math.min(seen.whole, seen.cut)).toBeGreaterThan(100);
});

test('X12 no cut parts a surrogate pair: well-formed text gives well-formed pieces', () => {
  fc.assert(
    fc.property(wellFormedText, size, size, (text, headBytes, tailBytes) => {
      const cut = cutMiddle(text, headBytes, tailBytes);
      if (cut === null) return;
      const middle = text.slice(cut.head.length, text.length - cut.tail.length);
      for (const piece of [cut.head, middle, cut.tail]) {
        expect(Buffer.from(piece, 'utf8').toString('utf8')).toBe(piece);
      }
      expect(Buffer.byteLength(middle, 'utf8')).toBe(cut.omittedBytes);
    }),
    { numRuns: 1000 },
  );
});

test('X12 a cut made again with the bytes it kept is the same cut', () => {
  fc.assert(
    fc.property(anyText, size, size, (text, headBytes, tailBytes) => {
      const cut = cutMiddle(text, headBytes, tailBytes);
      if (cut === null) return;
      expect(cutMiddle(text, utf8Length(cut.head), utf8Length(cut.tail))).toStrictEqual(cut);
    }),
    { numRuns: 500 },
  );
});
