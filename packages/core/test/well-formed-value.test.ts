import fc from 'fast-check';
import { expect, test } from 'vitest';

import { serdeJsonString } from '@celestea/core';
import { wellFormedValue } from '../src/well-formed.ts';

const ILL_FORMED = /\\u[dD][89a-fA-F]/;

test('C4.5 no lone surrogate is left, and what has none stays the same object', () => {
  const value = fc.anything({ key: fc.string({ unit: 'binary' }), withObjectString: true });
  fc.assert(
    fc.property(fc.oneof(value, fc.string({ unit: 'binary' })), (given) => {
      const before = serdeJsonString(given);
      const after = wellFormedValue(given);
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
  expect(wellFormedValue(given)).toStrictEqual(expected);
});

test('C4.5 a getter that throws is null', () => {
  const given = { get a(): string { throw new Error('trap'); }, b: '\ud800' };
  expect(wellFormedValue(given)).toStrictEqual({ a: null, b: '\ufffd' });
});
