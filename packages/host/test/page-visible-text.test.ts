import { describe, expect, test } from 'vitest';

import { beginningOf, visibleParts, visibleText } from '../page/model/visible-text.ts';

const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

const KINDS: [string, number[]][] = [
  ['C0 controls', range(0, 0x1f).filter((code) => code !== 0x09 && code !== 0x0a)],
  ['DEL and C1 controls', range(0x7f, 0x9f)],
  ['the soft hyphen and the joiner of graphemes', [0xad, 0x34f]],
  ['marks of direction', [0x61c, 0x200e, 0x200f]],
  ['embeddings, overrides and isolates', [...range(0x202a, 0x202e), ...range(0x2066, 0x2069)]],
  ['zero-width characters', [...range(0x200b, 0x200d), ...range(0x2060, 0x2064), 0xfeff]],
  ['deprecated format characters', range(0x206a, 0x206f)],
  ['separators of lines', [0x2028, 0x2029]],
  ['fillers and blanks', [0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0]],
  ['selectors of variants', [...range(0x180b, 0x180f), ...range(0xfe00, 0xfe0f)]],
  ['annotations', range(0xfff9, 0xfffb)],
  ['tags and selectors beyond', [...range(0xe0000, 0xe007f), ...range(0xe0100, 0xe01ef)]],
  ['notes and shorthand', [...range(0x1bca0, 0x1bca3), ...range(0x1d173, 0x1d17a)]],
  ['halves of pairs', range(0xd800, 0xdfff)],
];

describe('what nobody would see is an escape', () => {
  test.each(KINDS)('%s', (_kind, codes) => {
    for (const code of codes) {
      const hex = code.toString(16);
      const escape = code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
      const text = `rm${String.fromCodePoint(code)}-rf`;
      expect(visibleText(text)).toBe(`rm${escape}-rf`);
      expect(visibleParts(text)).toEqual([
        { text: 'rm', isEscape: false },
        { text: escape, isEscape: true },
        { text: '-rf', isEscape: false },
      ]);
    }
  });

  test('also side by side, as one piece', () => {
    expect(visibleParts('a\u202e\u2066\u{e0041}')).toEqual([
      { text: 'a', isEscape: false },
      { text: '\\u202e\\u2066\\u{e0041}', isEscape: true },
    ]);
  });

  test('also when there are more than are drawn as pieces', () => {
    const parts = visibleParts('a\u200b'.repeat(5000));
    expect(parts.length).toBeLessThanOrEqual(2002);
    expect(parts.map(({ text }) => text).join('')).toBe('a\\u200b'.repeat(5000));
  });
});

test.each([
  '',
  'plain\ttext\nin lines',
  'שלום العربية',
  'é e\u0301 中文 한글',
  '😀 ❤\ufe0f',
  '\\u202e as it was written',
])('%j stays as it is', (text) => {
  expect(visibleText(text)).toBe(text);
  expect(visibleParts(text)).toEqual(text === '' ? [] : [{ text, isEscape: false }]);
});

test('a beginning tears no pair apart', () => {
  expect(beginningOf('ab😀c', 3)).toBe('ab');
  expect(beginningOf('ab😀c', 4)).toBe('ab😀');
  expect(beginningOf('ab', 2)).toBe('ab');
  expect(beginningOf('ab', 9)).toBe('ab');
});
