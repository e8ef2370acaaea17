import { expect, expectTypeOf, test } from 'vitest';

import { Context, definePlugin, mountPlugins, pluginNames, type Plugin } from '@celestea/core';

test('C5.2 definePlugin makes a plugin of a name and a function', () => {
  expectTypeOf<Plugin>().toEqualTypeOf<{ name(): string; mount(ctx: Context): void }>();
  const mounted: unknown[] = [];
  const plugin = definePlugin('one', (ctx) => {
    mounted.push(ctx);
  });
  expect(plugin.name()).toBe('one');
  expect(mounted).toEqual([]);
  const ctx = Context.root();
  plugin.mount(ctx);
  expect(mounted).toHaveLength(1);
  expect(mounted[0]).toBe(ctx);
});

test('C5.2 mountPlugins mounts in order into one scope, which it returns', () => {
  const order: string[] = [];
  const provider = (name: string): Plugin =>
    definePlugin(name, (ctx) => {
      order.push(`${name} after ${String(ctx.get('last'))}`);
      ctx.provide('last', name);
    });
  const plugins = [provider('b'), provider('a'), provider('c')];
  const ctx = Context.root();
  expect(mountPlugins(ctx, plugins)).toBe(ctx);
  expect(order).toEqual(['b after undefined', 'a after b', 'c after a']);
  expect(ctx.get('last')).toBe('c');
  expect(mountPlugins(ctx, [])).toBe(ctx);
});

test('C5.2 a plugin may be an object with state', () => {
  class Counter implements Plugin {
    mounted = 0;
    name(): string {
      return `counter ${String(this.mounted)}`;
    }
    mount(): void {
      this.mounted += 1;
    }
  }
  const counter = new Counter();
  mountPlugins(Context.root(), new Set([counter]));
  expect(pluginNames([counter])).toEqual(['counter 1']);
});

test('C5.2 what a mount throws comes out, and no later plugin is mounted', () => {
  const order: string[] = [];
  const plugins = [
    definePlugin('bad', () => {
      throw new Error('mount failed');
    }),
    definePlugin('later', () => {
      order.push('later');
    }),
  ];
  expect(() => mountPlugins(Context.root(), plugins)).toThrow('mount failed');
  expect(order).toEqual([]);
});

test('C5.2 pluginNames, in order and with repetitions', () => {
  const plugins = ['b', 'a', 'b'].map((name) => definePlugin(name, () => undefined));
  expect(pluginNames(plugins)).toEqual(['b', 'a', 'b']);
  expect(pluginNames([])).toEqual([]);
});
