import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { exceedsLevels, jsonExceeds, sendableValue, serdeJsonString } from '@celestea/core';

const ILL_FORMED = /\\u[dD][89a-fA-F]/;

test('C4.5 no lone surrogate is left, and what has none stays the same object', () => {
  const value = fc.anything({ key: fc.string({ unit: 'binary' }), withObjectString: true });
  fc.assert(
    fc.property(fc.oneof(value, fc.string({ unit: 'binary' })), (given) => {
      const before = serdeJsonString(given);
      const after = sendableValue(given);
      expect(serdeJsonString(after)).not.toMatch(ILL_FORMED);
      if (!ILL_FORMED.test(before)) expect(after).toBe(given);
    }),
    { numRuns: 1_000 },
  );
});

test.each<[string, unknown, unknown]>([
  ['a text', 'a\ud800', 'a\ufffd'],
  ['a key', { '\udfff': 1 }, { '\ufffd': 1 }],
  ['deep down', [[[[[[[[[[{ a: '\ud800' }]]]]]]]]]], [[[[[[[[[[{ a: '\ufffd' }]]]]]]]]]]],
  ['in what has a form in JSON', { a: { toJSON: () => '\ud800' } }, { a: '\ufffd' }],
  ['a class', [new (class { a = '\ud800' })()], [{ a: '\ufffd' }]],
  ['behind many', Array.from({ length: 99 }, () => '\ud800'), Array(99).fill('\ufffd')],
])('C4.5 it is replaced: %s', (_title, given, expected) => {
  expect(sendableValue(given)).toStrictEqual(expected);
});

test('C4.5 a getter that throws is null', () => {
  const given = { get a(): string { throw new Error('trap'); }, b: '\ud800' };
  expect(sendableValue(given)).toStrictEqual({ a: null, b: '\ufffd' });
});

describe('X32 what is nested too deep is cut at 200 levels', () => {
  const nested = (levels: number, inner: unknown): unknown => {
    let value = inner;
    for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
    return value;
  };

  test.each([[0], [9], [200]])('X32 %d levels stay as they are', (levels) => {
    const value = nested(levels, 'x');
    expect(exceedsLevels(value)).toBe(false);
    expect(sendableValue(value)).toBe(value);
  });

  test.each([[201], [20_000]])('X32 %d levels are cut with a notice', (levels) => {
    const value = nested(levels, '\ud800');
    expect(exceedsLevels(value)).toBe(true);
    let inner: unknown = sendableValue(value);
    for (let level = 0; level < 200; level += 1) inner = Object.values(inner as object)[0];
    expect(inner).toBe('[nested deeper than 200 levels]');
  });

  test('X32 what is beside and behind a cut stays', () => {
    const deep = nested(201, 'x');
    const { a, b } = sendableValue({ a: 1, deep, b: ['\ud800'] }) as Record<string, unknown>;
    expect([a, b]).toEqual([1, ['\ufffd']]);
  });

  test('X32 a cycle is no depth', () => {
    const value: unknown[] = [];
    value.push(value);
    expect(exceedsLevels(value)).toBe(false);
  });
});

describe('X32 whether a value is longer than so many units', () => {
  test.each<[unknown, number]>([
    ['abc', 5],
    [['ü', '漢'], 9],
    [{ a: nothingPlain() }, 8],
    [Array.from({ length: 99 }, () => 1), 199],
    ['"\n', 6],
  ])('X32 %j comes to %d', (value, units) => {
    expect(serdeJsonString(value)).toHaveLength(units);
    expect(jsonExceeds(value, units)).toBe(false);
    expect(jsonExceeds(value, units - 1)).toBe(true);
  });

  test('X32 what no string can hold is longer than anything', () => {
    const long = [...Array.from({ length: 9 }, () => 'x'.repeat(2 ** 26)), nothingPlain()];
    expect(jsonExceeds(long, 2 ** 40)).toBe(true);
    expect(sendableValue(long)).toBe(null);
  });
});

function nothingPlain(): unknown {
  return { toJSON: () => 10 };
}
