import { expect, test } from 'vitest';

import { Context, serviceToken } from '@celestea/core';

class Clock {
  now(): number {
    return 1;
  }
}

test('C5.1 get and require give what was provided; the last wins', () => {
  const ctx = Context.root();
  expect(ctx.get('a')).toBe(undefined);
  const first = {};
  const second = {};
  expect(ctx.provide('a', first)).toBe(ctx);
  expect(ctx.get('a')).toBe(first);
  ctx.provide('a', second);
  expect(ctx.get('a')).toBe(second);
  expect(ctx.require('a')).toBe(second);
});

test('C5.1 a child falls back to the nearest parent and hides it by its own', () => {
  const root = Context.root().provide('a', 'root a').provide('b', 'root b');
  const child = root.scoped().provide('b', 'child b');
  const grandchild = child.scoped();
  expect(grandchild.get('a')).toBe('root a');
  expect(grandchild.get('b')).toBe('child b');
  expect(grandchild.require('a')).toBe('root a');
  expect(grandchild.has('a')).toBe(true);
  grandchild.provide('b', 'grandchild b');
  expect([root.get('b'), child.get('b'), grandchild.get('b')]).toEqual([
    'root b',
    'child b',
    'grandchild b',
  ]);
  expect(root.scoped().get('b')).toBe('root b');
  root.provide('late', 1);
  expect(grandchild.get('late')).toBe(1);
});

test('C5.1 roots know nothing of each other, and a parent nothing of its children', () => {
  const root = Context.root();
  const child = root.scoped().provide('a', 1);
  expect(child.has('a')).toBe(true);
  expect([root.has('a'), root.scoped().has('a'), Context.root().has('a')]).toEqual([
    false,
    false,
    false,
  ]);
});

test.each([
  ['null', null],
  ['undefined', undefined],
])('C5.1 %s in a child hides the service of the parent', (_name, nothing) => {
  const root = Context.root().provide('a', 'root a');
  const child = root.scoped().provide('a', nothing);
  for (const scope of [child, child.scoped()]) {
    expect(scope.get('a')).toBe(nothing);
    expect(scope.has('a')).toBe(false);
    expect(() => scope.require('a')).toThrow('a');
  }
  expect(root.get('a')).toBe('root a');
  expect(child.localTokens()).toEqual(['a']);
  child.provide('a', 'back');
  expect(child.require('a')).toBe('back');
});

test.each([0, '', false, NaN])('C5.1 a falsy service is one all the same: %j', (service) => {
  const ctx = Context.root().provide('a', service);
  expect(ctx.get('a')).toBe(service);
  expect(ctx.has('a')).toBe(true);
  expect(ctx.require('a')).toBe(service);
});

test('C5.1 require throws an Error that names the token', () => {
  const ctx = Context.root().scoped();
  expect(() => ctx.require('my.Service')).toThrow(Error);
  expect(() => ctx.require('my.Service')).toThrow('my.Service');
  expect(() => ctx.require(serviceToken<Clock>('my.Clock'))).toThrow('my.Clock');
  expect(() => ctx.require(Symbol('my symbol'))).toThrow('Symbol(my symbol)');
  expect(() => ctx.require(Clock)).toThrow('Clock');
  expect(() => ctx.require((() => class extends Clock {})())).toThrow('(anonymous class)');
});

test('C5.1 a token is a string, a symbol or a class by its identity', () => {
  const symbol = Symbol('s');
  const other = (() => {
    class Clock {
      now(): number {
        return 2;
      }
    }
    return Clock;
  })();
  const clock = new Clock();
  const ctx = Context.root().provide('s', 1).provide(symbol, 2).provide(Clock, clock);
  expect(ctx.get('s')).toBe(1);
  expect(ctx.get(symbol)).toBe(2);
  expect(ctx.get(Clock)).toBe(clock);
  expect(other.name).toBe('Clock');
  expect(ctx.has(other)).toBe(false);
  expect(ctx.has('Clock')).toBe(false);
  expect(ctx.has(Symbol('s'))).toBe(false);
  expect(ctx.has(Object.getPrototypeOf(Clock) as typeof Clock)).toBe(false);
  expect(ctx.get(class extends Clock {})).toBe(undefined);
});

test('C5.1 names of built-in properties are no services', () => {
  const ctx = Context.root().scoped();
  expect(['__proto__', 'constructor', 'toString'].filter((token) => ctx.has(token))).toEqual([]);
  ctx.provide('__proto__', 1);
  expect(ctx.get('__proto__')).toBe(1);
});

test('C5.1 localTokens gives those of this very scope, in order, as a fresh array', () => {
  const symbol = Symbol('s');
  const root = Context.root().provide('root', 1);
  const child = root.scoped();
  expect(child.localTokens()).toEqual([]);
  child.provide('b', 1).provide(symbol, 2).provide(Clock, new Clock()).provide('a', null);
  child.provide('b', 3);
  expect(child.localTokens()).toEqual(['b', symbol, Clock, 'a']);
  expect(root.localTokens()).toEqual(['root']);
  child.localTokens().pop();
  expect(child.localTokens()).toHaveLength(4);
});
