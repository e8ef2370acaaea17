import { expect, expectTypeOf, test } from 'vitest';

import {
  cacheHitRatio,
  usageAdd,
  usageIsEmpty,
  usageSum,
  zeroUsage,
  type Usage,
} from '@celestea/core';

import { deepFreeze } from './support.ts';

const usage = (...counters: [number, number, number, number, number]): Usage => ({
  prompt_tokens: counters[0],
  completion_tokens: counters[1],
  total_tokens: counters[2],
  cache_read: counters[3],
  reasoning_tokens: counters[4],
});

const zero = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cache_read: 0,
  reasoning_tokens: 0,
};

test('C1.4 zeroUsage is five zeros, as a new value each time', () => {
  expect(zeroUsage()).toStrictEqual(zero);
  expect(zeroUsage()).not.toBe(zeroUsage());
  expectTypeOf<keyof Usage>().toEqualTypeOf<
    'prompt_tokens' | 'completion_tokens' | 'total_tokens' | 'cache_read' | 'reasoning_tokens'
  >();
});

test.each([
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cache_read',
  'reasoning_tokens',
] as const)('C1.4 usageIsEmpty looks at %s', (counter) => {
  expect(usageIsEmpty({ ...zero, [counter]: 1 })).toBe(false);
  expect(usageIsEmpty(zero)).toBe(true);
});

test('C1.4 usageAdd adds each counter into a new value', () => {
  const a = deepFreeze(usage(1, 2, 3, 4, 5));
  const b = deepFreeze(usage(10, 20, 30, 40, 50));
  expect(usageAdd(a, b)).toStrictEqual(usage(11, 22, 33, 44, 55));
  expect(usageAdd(a, zeroUsage())).not.toBe(a);
  expect(usageAdd(zeroUsage(), a)).not.toBe(a);
});

test('C1.4 usageSum adds a list, and an empty one is zero', () => {
  const list = deepFreeze([
    usage(1, 2, 3, 4, 5),
    usage(10, 20, 30, 40, 50),
    usage(100, 200, 300, 400, 500),
  ]);
  expect(usageSum(list)).toStrictEqual(usage(111, 222, 333, 444, 555));
  expect(usageSum(new Set(list))).toStrictEqual(usage(111, 222, 333, 444, 555));
  expect(usageSum([])).toStrictEqual(zero);
  const only = usage(1, 2, 3, 4, 5);
  expect(usageSum([only])).toStrictEqual(only);
  expect(usageSum([only])).not.toBe(only);
});

test('C1.4 cacheHitRatio is cache_read / prompt_tokens, 0 without a prompt', () => {
  expect(cacheHitRatio(usage(200, 7, 9, 50, 3))).toBe(0.25);
  expect(cacheHitRatio(usage(50, 0, 0, 50, 0))).toBe(1);
  expect(cacheHitRatio(usage(50, 0, 0, 0, 0))).toBe(0);
  expect(cacheHitRatio(usage(0, 0, 0, 50, 0))).toBe(0);
  expect(cacheHitRatio(zeroUsage())).toBe(0);
});
