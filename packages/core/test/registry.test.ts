import { expect, expectTypeOf, test } from 'vitest';

import { LlmRegistry, NamedRegistry, type Llm } from '@celestea/core';

test('C2.5 LlmRegistry resolves the last registration of a name', () => {
  const registry = new LlmRegistry<number>();
  expect(registry.list()).toEqual([]);
  expect(registry.resolve('a')).toBe(undefined);
  registry.register('b', 1);
  registry.register('a', 2);
  registry.register('b', 3);
  expect(registry.resolve('b')).toBe(3);
  expect(registry.resolve('a')).toBe(2);
  expect(registry.resolve('c')).toBe(undefined);
  expect(registry.resolve('constructor')).toBe(undefined);
});

test('C2.5 list gives distinct names in the order of their first registration', () => {
  const registry = new LlmRegistry<number>();
  for (const name of ['b', 'a', 'b', '10', '9', 'a', '__proto__']) registry.register(name, 0);
  expect(registry.list()).toEqual(['b', 'a', '10', '9', '__proto__']);
  registry.list().push('x');
  expect(registry.list()).toEqual(['b', 'a', '10', '9', '__proto__']);
});

test('C2.5 what it holds is an Llm unless said otherwise', () => {
  expectTypeOf(new LlmRegistry().resolve('a')).toEqualTypeOf<Llm | undefined>();
  expectTypeOf(new LlmRegistry<string>().resolve('a')).toEqualTypeOf<string | undefined>();
});

test('C5.2 NamedRegistry keeps every row, and the last of a name wins', () => {
  const registry = new NamedRegistry<number | null>();
  expect([registry.size, registry.entries(), registry.get('a')]).toEqual([0, [], undefined]);
  registry.insert('b', 1);
  registry.insert('a', 2);
  registry.insert('b', 3);
  registry.insert('__proto__', 4);
  expect(registry.size).toBe(4);
  expect(registry.entries()).toEqual([
    ['b', 1],
    ['a', 2],
    ['b', 3],
    ['__proto__', 4],
  ]);
  expect(registry.get('b')).toBe(3);
  expect(registry.get('a')).toBe(2);
  expect(registry.get('__proto__')).toBe(4);
  expect(registry.get('toString')).toBe(undefined);
  registry.insert('a', null);
  expect(registry.get('a')).toBe(null);
});

test('C5.2 the rows of a NamedRegistry cannot be changed through what it hands out', () => {
  const registry = new NamedRegistry<number>();
  registry.insert('a', 1);
  const rows = registry.entries();
  const [row] = rows;
  if (row !== undefined) row[1] = 9;
  rows.push(['b', 2]);
  expect(registry.entries()).toEqual([['a', 1]]);
  expect(registry.size).toBe(1);
  expect(registry.get('a')).toBe(1);
});
