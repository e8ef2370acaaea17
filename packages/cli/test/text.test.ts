import { describe, expect, it } from 'vitest';

import {
  formatBytes,
  formatCount,
  formatDuration,
  safeJson,
  safeLine,
  safeText,
} from '../src/text.ts';

const everyUnit = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));

/** By its number, not by the pattern under test. */
function isDangerous(character: string): boolean {
  const unit = character.charCodeAt(0);
  const isControl = unit < 0x20 || (unit >= 0x7f && unit < 0xa0);
  const isReordering = (unit >= 0x202a && unit <= 0x202e) || (unit >= 0x2066 && unit <= 0x2069);
  const isHidden = [0x200b, 0x200e, 0x200f, 0x2060, 0xfeff].includes(unit);
  return (isControl && character !== '\n' && character !== '\t') || isReordering || isHidden;
}

describe('safeText', () => {
  it('shows every control, reordering and invisible character, and touches no other', () => {
    const wrong = everyUnit.filter((character) => {
      const shown = safeText(character);
      if (!isDangerous(character)) return shown !== character;
      return !/^\\(x[0-9a-f]{2}|u[0-9a-f]{4})$/.test(shown);
    });
    expect(wrong).toEqual([]);
    expect(everyUnit.filter(isDangerous)).toHaveLength(63 + 9 + 5);
  });

  it.each([
    ['a colour', '\x1b[31mred', '\\x1b[31mred'],
    ['a cleared screen', '\x1b[2J\x1b[H', '\\x1b[2J\\x1b[H'],
    ['a title, ended by BEL', '\x1b]0;pwned\x07', '\\x1b]0;pwned\\x07'],
    ['a clipboard write, ended by ST', '\x1b]52;c;cm0=\x1b\\', '\\x1b]52;c;cm0=\\x1b\\'],
    ['the eight-bit CSI', '\x9b2J', '\\x9b2J'],
    ['an overwritten line', 'safe\rrm -rf', 'safe\\x0drm -rf'],
    ['rubbed out text', 'rm\b\bls\x7f', 'rm\\x08\\x08ls\\x7f'],
    ['reversed text', 'a\u202Eb', 'a\\u202eb'],
    ['newlines and tabs', 'a\n\tb', 'a\n\tb'],
    ['other scripts and emoji', 'žluť 漢字 👩‍💻', 'žluť 漢字 👩‍💻'],
  ])('%s', (_, text, shown) => {
    expect(safeText(text)).toBe(shown);
  });
});

describe('safeLine', () => {
  it.each([
    ['keeps what fits', 'abc', 3, 'abc'],
    ['cuts what does not', 'abcd', 3, 'abc…'],
    ['counts whole characters', '😀😀😀😀', 3, '😀😀😀…'],
    ['shows newlines and tabs', 'a\nb\tc', 9, 'a\\nb\\tc'],
    ['shows controls', '\x1b[2J', 9, '\\x1b[2J'],
  ])('%s', (_, text, limit, line) => {
    expect(safeLine(text, limit)).toBe(line);
  });
});

describe('safeJson', () => {
  it('is plain, and reads back as the same value', () => {
    const value = everyUnit.filter((character) => !/[\ud800-\udfff]/.test(character)).join('');
    const json = safeJson(JSON.stringify(value));
    expect(Array.from(json).filter(isDangerous)).toEqual([]);
    expect(JSON.parse(json)).toBe(value);
  });
});

it('what hides in a line is shown, and what emoji are joined with stays', () => {
  expect(safeText('pay\u200bpal \ufeff\u2060 👨\u200d👩')).toBe(
    'pay\\u200bpal \\ufeff\\u2060 👨\u200d👩',
  );
});

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [99_949, '99.9 kB'],
  [99_950, '100 kB'],
  [999_949, '1000 kB'],
  [999_950, '1.0 MB'],
  [123_456_789, '123 MB'],
])('%d bytes', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

it.each([
  [-1, '0 ms'],
  [0.4, '0 ms'],
  [999.4, '999 ms'],
  [999.5, '1.0 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min 00 s'],
  [125_000, '2 min 05 s'],
])('%d milliseconds', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});

it('counts', () => {
  expect([0, 1, 2].map((count) => formatCount(count, 'step'))).toEqual([
    '0 steps',
    '1 step',
    '2 steps',
  ]);
});
