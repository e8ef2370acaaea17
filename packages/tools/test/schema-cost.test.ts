import { describe, expect, test } from 'vitest';

import { compileSchema } from '../src/schema-check.ts';

/** Each definition refers to the next one twice. */
const doubling = (steps: number, keyword: '$ref' | '$anchor'): Record<string, unknown> => {
  const refTo = (step: number) => ({
    $ref: keyword === '$ref' ? `#/$defs/d${String(step)}` : `#d${String(step)}`,
  });
  const $defs: Record<string, unknown> = {};
  for (let step = 0; step <= steps; step += 1) {
    const anchor = keyword === '$anchor' ? { $anchor: `d${String(step)}` } : {};
    const next = refTo(step + 1);
    const body = step === steps ? { type: 'string' } : { allOf: [next, next] };
    $defs[`d${String(step)}`] = { ...anchor, ...body };
  }
  return { ...refTo(0), $defs };
};

describe('what a check costs', () => {
  test.each(['$ref', '$anchor'] as const)(
    'C3.1 a schema that unfolds beyond bounds is refused: %s',
    (keyword) => {
      expect(() => compileSchema(doubling(60, keyword))).toThrow('more than 100000 schemas');
      const check = compileSchema(doubling(12, keyword));
      expect(check('a')).toEqual([]);
      expect(check(1)).toHaveLength(1);
    },
  );

  test('C3.1 a recursive schema is none of them, nor what nobody refers to', () => {
    const tree = { properties: { left: { $ref: '#' }, right: { $ref: '#' } }, type: 'object' };
    expect(compileSchema(tree)({ left: { right: 1 } })).toHaveLength(1);
    const { $defs } = doubling(60, '$ref');
    expect(compileSchema({ $defs, type: 'string' })('a')).toEqual([]);
  });

  test('C3.1 a large schema stops at its first fault', () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `p${String(index)}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
    const value = Object.fromEntries(names.map((name) => [name, 1]));
    expect(compileSchema({ properties })(value)).toHaveLength(1);
  });

  test.each(['http://json-schema.org/draft-07/schema#', undefined])(
    'C3.1 uniqueItems takes linear time and compares whole values: %s',
    ($schema) => {
      const check = compileSchema({ ...($schema ? { $schema } : {}), uniqueItems: true });
      const many = Array.from({ length: 50_000 }, (_, index) => ({ id: index, list: [index] }));
      const before = performance.now();
      expect(check(many)).toEqual([]);
      expect(performance.now() - before).toBeLessThan(2_000);
      expect(check([{ a: 1, b: 2 }, 5, { b: 2, a: 1 }])[0]).toContain(
        'must NOT have duplicate items (items ## 0 and 2 are identical)',
      );
      expect(check([1, '1', true, null, 'null', [1], [[1]], {}])).toEqual([]);
      expect(compileSchema({ uniqueItems: false })([1, 1])).toEqual([]);
    },
  );
});
