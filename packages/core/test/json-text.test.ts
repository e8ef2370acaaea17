import { spawnSync } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { serdeJsonBytes, serdeJsonString } from '@celestea/core';

import { jsonValue } from './support.ts';

test.each<[name: string, value: unknown, text: string]>([
  ['null', null, 'null'],
  ['true', true, 'true'],
  ['false', false, 'false'],
  ['an integer', 42, '42'],
  ['a negative fraction', -1.5, '-1.5'],
  ['minus zero', -0, '0'],
  ['a large exponent without plus', 1e21, '1e21'],
  ['a fractional large exponent', -1.5e300, '-1.5e300'],
  ['a small exponent', 1e-7, '1e-7'],
  ['the largest plain number', 123456789012345680000, '123456789012345680000'],
  ['NaN', NaN, 'null'],
  ['Infinity', Infinity, 'null'],
  ['-Infinity', -Infinity, 'null'],
  ['undefined', undefined, 'null'],
  ['a function', () => 1, 'null'],
  ['a class', Map, 'null'],
  ['a symbol', Symbol('s'), 'null'],
  ['a bigint', 12345678901234567890n, '12345678901234567890'],
  ['a negative bigint', -1n, '-1'],
  ['a string', 'a"b\\c\n\t\u0001é', '"a\\"b\\\\c\\n\\t\\u0001é"'],
  ['the empty string', '', '""'],
  ['a string that looks like an exponent', '1e+21', '"1e+21"'],
  ['a pair of surrogates', '\u{1F600}', '"\u{1F600}"'],
  ['a lone high surrogate', 'a\ud83d', '"a\\ud83d"'],
  ['a lone low surrogate', '\ude00b', '"\\ude00b"'],
  ['surrogates the wrong way round', '\ude00\ud83d', '"\\ude00\\ud83d"'],
  ['line separators as they are', '\u2028\u2029', '"\u2028\u2029"'],
])('C6.1 writes %s', (_name, value, text) => {
  expect(serdeJsonString(value)).toBe(text);
  expect(serdeJsonBytes(value)).toBe(Buffer.byteLength(text));
});

test.each<[name: string, value: unknown, text: string]>([
  ['an empty object', {}, '{}'],
  ['an empty array', [], '[]'],
  ['nested empties', { a: {}, b: [[], {}] }, '{"a":{},"b":[[],{}]}'],
  ['a dozen, in their order', [...Array(12).keys()], '[0,1,2,3,4,5,6,7,8,9,10,11]'],
  ['fields of an array', Object.assign([1], { a: 2 }), '[1]'],
  ['as many fields as holes', Object.assign(Array.from({ length: 2 }).fill(1, 1), { a: 2 }), '[null,1]'],
  ['a hole and a field', (() => {
    const array: unknown[] = [];
    array[1] = 1;
    return Object.assign(array, { a: 2 });
  })(), '[null,1]'],
  ['unsorted keys', { b: 1, a: 2, C: 3 }, '{"C":3,"a":2,"b":1}'],
  ['unsorted keys in depth', [{ z: { y: 1, x: [{ b: 1, a: 2 }] }, a: 0 }],
    '[{"a":0,"z":{"x":[{"a":2,"b":1}],"y":1}}]'],
  ['integer-like keys as text', { 9: 'b', 10: 'a', 1: 'c' }, '{"1":"c","10":"a","9":"b"}'],
  ['code units, not code points', { '\uffff': 2, '\u{1F600}': 1 }, '{"\u{1F600}":1,"\uffff":2}'],
  ['no locale', { ä: 1, z: 2, Z: 3, a: 4 }, '{"Z":3,"a":4,"z":2,"ä":1}'],
  ['a prefix first', { ab: 1, a: 2, '': 3 }, '{"":3,"a":2,"ab":1}'],
  ['a lone surrogate in a key', { '\ud800': 1 }, '{"\\ud800":1}'],
  ['quotes in a key', { '"': 1 }, '{"\\"":1}'],
  ['an own __proto__', JSON.parse('{"b":1,"__proto__":{"x":1}}'), '{"__proto__":{"x":1},"b":1}'],
  ['no inherited key', Object.create({ inherited: 1 }), '{}'],
  ['no prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
  ['no symbol key', { [Symbol('s')]: 1, a: 1 }, '{"a":1}'],
  ['no hidden key', Object.defineProperty({ a: 1 }, 'b', { value: 2 }), '{"a":1}'],
  ['nothing-values inside an object',
    { u: undefined, f: () => 1, s: Symbol('s'), n: NaN, i: Infinity, b: 1n },
    '{"b":1,"f":null,"i":null,"n":null,"s":null,"u":null}'],
  ['nothing-values inside an array',
    [undefined, () => 1, Symbol('s'), NaN, -Infinity, 10n], '[null,null,null,null,null,10]'],
  ['numbers in depth', { a: [1e21, -0, 1e-7] }, '{"a":[1e21,0,1e-7]}'],
  ['extra properties of an array are no elements', Object.assign([1], { x: 2 }), '[1]'],
])('C6.1 writes containers: %s', (_name, value, text) => {
  expect(serdeJsonString(value)).toBe(text);
  expect(serdeJsonBytes(value)).toBe(Buffer.byteLength(text));
});

function sparse(length: number, at: number): unknown[] {
  const array: unknown[] = [];
  array[at] = 7;
  array.length = length;
  return array;
}

test.each<[name: string, value: unknown, text: string]>([
  ['holes', sparse(4, 1), '[null,7,null,null]'],
  ['nothing but holes', new Array(3), '[null,null,null]'],
  ['one element and the largest length', sparse(4294967295, 4294967294), 'null'],
  ['the largest length in an object', { a: sparse(4294967295, 0), b: 1 }, '{"a":null,"b":1}'],
  ['a hundred thousand holes', sparse(100_001, 100_000), `[${'null,'.repeat(100_000)}7]`],
  ['a Map', new Map([['a', 1]]), '{}'],
  ['a Set', new Set([1]), '{}'],
  ['a Date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ['an invalid Date', new Date(NaN), 'null'],
  ['a RegExp', /x/, '{}'],
  ['an Error', new Error('x'), '{}'],
  ['bytes', new Uint8Array([1, 2]), '{"0":1,"1":2}'],
  ['a URL', new URL('http://a.b/'), '"http://a.b/"'],
  ['boxed primitives', [Object(1), Object('s'), Object(false), Object(2n), Object(NaN)],
    '[1,"s",false,2,null]'],
  ['a boxed symbol', Object(Symbol('s')), '{}'],
  ['a boxed primitive that refuses', Object.assign(Object(1), {
    valueOf: () => { throw new Error('no'); },
  }), 'null'],
])('C6.1 survives odd objects: %s', (_name, value, text) => {
  expect(serdeJsonString(value)).toBe(text);
  expect(serdeJsonBytes(value)).toBe(Buffer.byteLength(text));
});

function cyclic(): Record<string, unknown> {
  const a: Record<string, unknown> = { name: 'a' };
  const b = { back: a, list: [a] };
  return Object.assign(a, { b, self: a });
}

test('C6.1 cuts a cycle where it closes', () => {
  expect(serdeJsonString(cyclic())).toBe(
    '{"b":{"back":null,"list":[null]},"name":"a","self":null}',
  );
  const array: unknown[] = [1];
  array.push(array, [array]);
  expect(serdeJsonString(array)).toBe('[1,null,[null]]');
});

test('C6.1 writes what is shared, but no cycle, every time it stands there', () => {
  const shared = { x: [1] };
  expect(serdeJsonString([shared, { a: shared, b: shared }, shared.x])).toBe(
    '[{"x":[1]},{"a":{"x":[1]},"b":{"x":[1]}},[1]]',
  );
  const withJson = { toJSON: () => shared };
  expect(serdeJsonString([withJson, withJson, shared])).toBe('[{"x":[1]},{"x":[1]},{"x":[1]}]');
  const itself = { a: 1, toJSON: (): unknown => itself };
  expect(serdeJsonString([itself, itself])).toBe('[{"a":1,"toJSON":null},{"a":1,"toJSON":null}]');
});

const raise = (): never => {
  throw new Error('hostile');
};

test.each<[name: string, value: unknown, text: string]>([
  ['throws', { a: { toJSON: raise }, b: 1 }, '{"a":null,"b":1}'],
  ['is a getter that throws', { get toJSON() { return raise(); } }, 'null'],
  ['is no function', { toJSON: 5 }, '{"toJSON":5}'],
  ['returns undefined', [{ toJSON: () => undefined }], '[null]'],
  ['returns a number', { toJSON: () => 1e21 }, '1e21'],
  ['returns a string', { toJSON: () => 'x' }, '"x"'],
  ['returns a bigint', { toJSON: () => 5n }, '5'],
  ['returns NaN', { toJSON: () => NaN }, 'null'],
  ['returns a function', { toJSON: () => raise }, 'null'],
  ['returns a boxed string', { toJSON: () => Object('x') as unknown }, '"x"'],
  ['returns an unsorted object', { toJSON: () => ({ b: 1, a: 2 }) }, '{"a":2,"b":1}'],
  ['returns an array', { toJSON: () => [1, undefined] }, '[1,null]'],
  ['returns what has a toJSON itself', { toJSON: () => ({ a: 1, toJSON: () => 'not asked' }) },
    '{"a":1,"toJSON":null}'],
  ['is nested', { toJSON: () => ({ in: { toJSON: () => ({ deep: true }) } }) },
    '{"in":{"deep":true}}'],
  ['stands on an array', Object.assign([1], { toJSON: () => 'array' }), '"array"'],
  ['is inherited', new (class { toJSON(): string { return 'class'; } })(), '"class"'],
  ['holds its owner', { toJSON(): unknown { return { self: this }; } }, '{"self":null}'],
  ['returns its parent', (() => {
    const parent: Record<string, unknown> = { a: 1 };
    return Object.assign(parent, { child: { toJSON: () => parent } });
  })(), '{"a":1,"child":null}'],
  ['is async', { toJSON: () => Promise.resolve(1) }, '{}'],
])('C6.1 survives a toJSON that %s', (_name, value, text) => {
  expect(serdeJsonString(value)).toBe(text);
  expect(serdeJsonBytes(value)).toBe(Buffer.byteLength(text));
});

test('C6.1 hands toJSON the key it stands under, with its owner as this', () => {
  const seen: unknown[] = [];
  const spy = {
    toJSON(key: string) {
      seen.push(key, this === spy);
      return key;
    },
  };
  expect(serdeJsonString(spy)).toBe('""');
  expect(serdeJsonString({ k: [spy, spy] })).toBe('{"k":["0","1"]}');
  expect(seen).toEqual(['', true, '0', true, '1', true]);
});

test('C6.1 a throwing getter becomes null and spoils nothing beside it', () => {
  const value = { a: 1, get b() { return raise(); }, c: [3] };
  expect(serdeJsonString(value)).toBe('{"a":1,"b":null,"c":[3]}');
  const array = Object.defineProperty([1, 2, 3], 1, { get: raise, enumerable: true });
  expect(serdeJsonString(array)).toBe('[1,null,3]');
});

test('C6.1 depth alone cuts nothing', () => {
  const depth = 100_000;
  let array: unknown = 1;
  let object: unknown = 1;
  let converted: unknown = 1;
  for (let level = 0; level < depth; level += 1) {
    array = [array];
    object = { z: 0, a: object };
    const inner = converted;
    converted = { toJSON: () => [inner] };
  }
  expect(serdeJsonString(array) === `${'['.repeat(depth)}1${']'.repeat(depth)}`).toBe(true);
  expect(serdeJsonString(object) === `${'{"a":'.repeat(depth)}1${',"z":0}'.repeat(depth)}`).toBe(
    true,
  );
  expect(serdeJsonString(converted) === `${'['.repeat(depth)}1${']'.repeat(depth)}`).toBe(true);
});

test('C6.1 is not changed by a value that changes while it is read', () => {
  const value: Record<string, unknown> = {
    get a() {
      delete value['b'];
      value['c'] = 3;
      return 1;
    },
    b: 2,
  };
  expect(serdeJsonString(value)).toBe('{"a":1,"b":null}');
});

test('C6.1 takes memory for its text, not many times as much', { timeout: 120_000 }, () => {
  const script = `
    import { serdeJsonBytes, serdeJsonString } from '@celestea/core';
    let value = [];
    for (let level = 0; level < 21; level += 1) value = [value, value];
    process.stdout.write(String(serdeJsonString(value).length));
  `;
  const flags = ['--max-old-space-size=96', '--import', 'tsx', '--input-type=module'];
  const child = spawnSync(process.execPath, [...flags, '-e', script], {
    cwd: new URL('..', import.meta.url),
    encoding: 'utf8',
  });
  expect(child.stdout).toBe(String(5 * 2 ** 21 - 3));
});

/** The rule for plain JSON, as short as it can be said. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'number') return JSON.stringify(value).replace('+', '');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
}

test('C6.1 plain JSON comes back whole, with sorted keys at every depth', () => {
  fc.assert(
    fc.property(jsonValue, (value) => {
      const text = serdeJsonString(value);
      expect(isDeepStrictEqual(JSON.parse(text), value)).toBe(true);
      expect(text).toBe(canonical(value));
      expect(serdeJsonBytes(value)).toBe(Buffer.byteLength(text));
    }),
    { numRuns: 300 },
  );
});

test('C6.1 never throws and always gives JSON, whatever it is handed', () => {
  const anything = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  });
  fc.assert(
    fc.property(anything, (value) => {
      const text = serdeJsonString(value);
      expect(() => JSON.parse(text) as unknown).not.toThrow();
      expect(serdeJsonBytes(value)).toBe(Buffer.byteLength(text));
    }),
    { numRuns: 300 },
  );
});
