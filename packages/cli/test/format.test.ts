import { expect, it } from 'vitest';

import { formatBytes, formatCount, formatDuration } from '../src/format.ts';

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
