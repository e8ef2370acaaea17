import type { ImageRef } from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { plainValue } from '../src/plain-value.ts';

class Point {
  readonly #secret = 1;
  x = 1;
  get sum(): number {
    return this.x + this.#secret;
  }
}

class Silent {
  readonly #secret = 1;
  reveal(): number {
    return this.#secret;
  }
}

const fail = (): never => {
  throw new Error('trap');
};

const cycle: Record<string, unknown> = { a: 1 };
cycle['self'] = cycle;
cycle['list'] = [cycle];

const shared = { n: 1 };

const named = Object.assign(new Error('disk full', { cause: 'ENOSPC' }), { code: 28 });

const polluting: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"n":null}');

const sparse: unknown[] = [1];
sparse[3] = 4;

describe('C6.1 what tools may return, and what is logged of it', () => {
  test.each<[string, unknown, unknown]>([
    ['undefined', undefined, null],
    ['NaN', Number.NaN, null],
    ['infinities', [Infinity, -Infinity], [null, null]],
    ['a small bigint', 10n, 10],
    ['a large bigint', 2n ** 64n, '18446744073709551616'],
    ['a symbol', Symbol('odd'), '[Symbol(odd)]'],
    ['a function', fail, '[function fail]'],
    ['a function without a name', [() => 1][0], '[function]'],
    ['a class', Point, '[function Point]'],
    ['undefined fields and items', { a: undefined, b: [undefined, 1] }, { b: [null, 1] }],
    ['holes', sparse, [1, null, null, 4]],
    ['a cycle', cycle, { a: 1, self: '[circular]', list: ['[circular]'] }],
    ['an object that stands there twice', { a: shared, b: [shared], c: 1n },
      { a: { n: 1 }, b: [{ n: 1 }], c: 1 }],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an invalid date, as in JSON', new Date(Number.NaN), null],
    ['a map of text keys', new Map<unknown, unknown>([['a', 1], ['__proto__', new Map()]]),
      JSON.parse('{"a":1,"__proto__":{}}') as unknown],
    ['a map of other keys', new Map<unknown, unknown>([[1, 'x'], ['a', undefined]]),
      [[1, 'x'], ['a', null]]],
    ['a set', new Set(['a', new Set([1])]), ['a', [1]]],
    ['an error', named,
      { name: 'Error', message: 'disk full', cause: 'ENOSPC', code: 28 }],
    ['an aggregate error', new AggregateError([new TypeError('x')], 'both'),
      { name: 'AggregateError', message: 'both', errors: [{ name: 'TypeError', message: 'x' }] }],
    ['a buffer', Buffer.from('hello'), '[5 bytes of Buffer left out]'],
    ['an array buffer', { b: new ArrayBuffer(1) }, { b: '[1 byte of ArrayBuffer left out]' }],
    ['a data view', new DataView(new ArrayBuffer(2)), '[2 bytes of DataView left out]'],
    ['an array of numbers', new Float64Array([1.5, Number.NaN]), [1.5, null]],
    ['an array of bigints', new BigInt64Array([1n]), [1]],
    ['a getter', { get a() { return 1; } }, { a: 1 }],
    ['lone surrogates', ['\ud800a', { 'b\udc00': '😀' }], ['\ufffda', { 'b\ufffd': '😀' }]],
    ['a class instance', new Point(), { x: 1 }],
    ['an instance that shows nothing', new Silent(), '[Silent]'],
    ['a promise', { p: Promise.resolve(1) }, { p: '[Promise]' }],
    ['a URL', new URL('https://a.b/c'), 'https://a.b/c'],
    ['toJSON', { toJSON: (key: string) => ({ key, toJSON: 1 }) }, { key: '', toJSON: 1 }],
    ['toJSON that gives itself', { toJSON() { return this; }, a: 1n },
      { toJSON: '[function toJSON]', a: 1 }],
    ['toJSON that gives what JSON lacks', { toJSON: () => new Map([['a', undefined]]) }, {}],
    ['no prototype', Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }],
    ['keys that pollute', { p: polluting, n: 1n },
      { p: polluting, n: 1 }],
  ])('C6.1 %s', (_title, value, plain) => {
    const came = plainValue(value);
    expect(came).toEqual(plain);
    expect(JSON.parse(JSON.stringify(came))).toStrictEqual(came);
    expect(plainValue(came)).toBe(came);
    expect({}).not.toHaveProperty('polluted');
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['text', 'naïve 😀 \u2028'],
    ['a list', [1, 'a', [true, null]]],
    ['an object', { a: { b: [{}] }, '': -1.5, toJSON: 'data' }],
    ['keys like __proto__', polluting],
  ])('C6.1 plain JSON comes back as the same object: %s', (_title, value) => {
    expect(plainValue(value)).toBe(value);
  });

  test('C3.7 what throws in it is thrown, which is the error of the call', () => {
    const getter = Object.defineProperty({}, 'bad', { enumerable: true, get: fail });
    for (const value of [getter, { at: new Date(0), getter }, { a: { toJSON: fail } }]) {
      expect(() => plainValue(value)).toThrow('trap');
    }
  });
});

describe('C6.1 what is too much is left out, and that is said', () => {
  const MIB = 2 ** 20;

  test('C6.1 a text of 50 MB, and what stands beside it', () => {
    const value = { before: 1, text: 'x'.repeat(50_000_000), after: { code: 0 } };
    const { text, ...rest } = plainValue(value) as typeof value;
    expect(rest).toEqual({ before: 1, after: { code: 0 } });
    expect(text.length).toBeLessThan(2 * MIB);
    expect(plainValue(text)).toBe(text);
    expect(text.slice(-60)).toBe(`${'x'.repeat(16)}… [47902948 of 50000000 characters left out]`);
  });

  test('C6.1 a cut does not halve a character', () => {
    const text = plainValue(`x${'😀'.repeat(2 * MIB)}`) as string;
    expect(text.slice(-50)).toMatch(/^.?(?:😀)+… \[2097254 of 4194305 characters left out\]$/u);
    expect(text.isWellFormed()).toBe(true);
  });

  test('C6.1 many long texts', () => {
    const texts = plainValue(Array.from({ length: 20 }, () => 'x'.repeat(MIB))) as string[];
    expect(texts).toHaveLength(10);
    expect(texts.at(-2)).toBe('[1048576 of 1048576 characters left out]');
    expect(texts.at(-1)).toBe('[11 more items left out]');
  });

  test('C6.1 a huge list, a huge object, and a list without end', () => {
    const list = plainValue(Array.from({ length: 1_000_000 }, () => 0)) as unknown[];
    expect([list.length, list.at(-1)]).toEqual([100_001, '[900000 more items left out]']);
    const fields = Array.from({ length: 150_000 }, (_, index) => [String(index), 0]);
    const object = plainValue(Object.fromEntries(fields)) as Record<string, unknown>;
    expect(object['…']).toBe('[50000 more fields left out]');
    expect(Object.keys(object)).toHaveLength(100_001);
    const endlessList = plainValue(new Array(2 ** 32 - 1)) as unknown[];
    expect(endlessList.at(-1)).toBe('[4294867295 more items left out]');
  });

  test('C6.1 deep nesting', () => {
    let value: unknown = 'bottom';
    for (let level = 0; level < 100_000; level += 1) value = level % 2 === 0 ? [value] : { value };
    const text = JSON.stringify(plainValue(value));
    expect(text).toContain('"[nested deeper than 200 levels]"');
    expect(text.length).toBeLessThan(2_000);
  });

  test('C6.1 what unfolds without end', () => {
    let wide: unknown = 1;
    for (let level = 0; level < 100; level += 1) wide = [wide, wide];
    expect(JSON.stringify(plainValue(wide)).length).toBeLessThan(1_000_000);
    const unfolding = { toJSON: () => ({ a: { ...unfolding }, b: { ...unfolding } }) };
    expect(JSON.stringify(plainValue(unfolding)).length).toBeLessThan(5_000_000);
  });
});

describe('C1.2 images survive', () => {
  const image: ImageRef = { attachment_id: 'ab', media_type: 'image/png', width: 1, height: 2 };

  test('C1.2 beside what has to be copied', () => {
    const value = { at: new Date(0), attachments: [image] };
    expect(plainValue(value)).toEqual({ at: '1970-01-01T00:00:00.000Z', attachments: [image] });
  });

  test('C1.2 beside what takes all the room', () => {
    const rows = Array.from({ length: 200_000 }, () => 0);
    const texts = Array.from({ length: 9 }, () => 'x'.repeat(2 ** 20));
    for (const other of [rows, texts]) {
      const value = plainValue({ other, attachments: [image, image] });
      expect(value).toHaveProperty('attachments', [image, image]);
      expect(plainValue({ attachments: [image], other })).toHaveProperty('attachments', [image]);
    }
  });

  test('C1.2 what is no image takes no part in that', () => {
    const value = { attachments: ['x', 10n], other: Number.NaN };
    expect(plainValue(value)).toEqual({ attachments: ['x', 10], other: null });
  });
});
