import { expect, test } from 'vitest';

import { describeValue } from '@celestea/core';

test.each<[value: unknown, text: string]>([
  [null, 'null'],
  [undefined, 'undefined'],
  [[], 'an array'],
  [{}, 'an object'],
  [new Date(0), 'an object'],
  [1.5, '1.5'],
  [NaN, 'NaN'],
  [-Infinity, '-Infinity'],
  [false, 'false'],
  ['a"b', '"a\\"b"'],
  ['x'.repeat(40), `"${'x'.repeat(40)}"`],
  ['x'.repeat(41), 'a string'],
  [1n, 'a bigint'],
  [Symbol('s'), 'a symbol'],
  [() => 1, 'a function'],
  [Promise.resolve(), 'a promise'],
])('describeValue says what came (%#)', (value, text) => {
  expect(describeValue(value)).toBe(text);
});
