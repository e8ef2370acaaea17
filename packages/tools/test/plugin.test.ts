import { toolRegistryPlugin } from '@celestea/tools';
import {
  Context,
  mountPlugins,
  TOOL_GUARD_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type ToolGuard,
} from '@celestea/core';
import { expect, test } from 'vitest';

import { call, guardOf, toolOf } from './support/doubles.ts';

const denying = (reason: string): ToolGuard => guardOf(() => ({ kind: 'deny', reason }));
const allowing = guardOf(() => ({ kind: 'allow' }));

test('C5.3 the plugin provides a registry with its tools; each mount makes its own', async () => {
  const plugin = toolRegistryPlugin([toolOf('a')]);
  expect(plugin.name()).toBe('tool-registry');
  const [one, two] = [Context.root(), Context.root()];
  mountPlugins(one, [plugin]);
  mountPlugins(two, [plugin]);
  const registry = one.require(TOOL_REGISTRY_SERVICE);
  expect(two.require(TOOL_REGISTRY_SERVICE)).not.toBe(registry);
  expect(await registry.dispatch(call('a'))).toMatchObject({ value: 'a', decision: null });
});

test('C5.2 without arguments it is an empty registry', () => {
  const ctx = mountPlugins(Context.root(), [toolRegistryPlugin()]);
  expect(ctx.require(TOOL_REGISTRY_SERVICE).schemas()).toEqual([]);
});

test("C3.6 its guards are asked first, the scope's guard last", async () => {
  const ctx = Context.root().provide(TOOL_GUARD_SERVICE, denying('scope'));
  mountPlugins(ctx, [toolRegistryPlugin([toolOf('a')], [allowing])]);
  const scope = await ctx.require(TOOL_REGISTRY_SERVICE).dispatch(call('a'));
  expect(scope.error).toBe('denied: scope');
  mountPlugins(ctx, [toolRegistryPlugin([toolOf('a')], [denying('own')])]);
  const own = await ctx.require(TOOL_REGISTRY_SERVICE).dispatch(call('a'));
  expect(own.error).toBe('denied: own');
});

test("C3.6 a guard that is provided later, or by the scope's parent, is asked too", async () => {
  const parent = Context.root();
  const ctx = mountPlugins(parent.scoped(), [toolRegistryPlugin([toolOf('a')])]);
  const registry = ctx.require(TOOL_REGISTRY_SERVICE);
  expect((await registry.dispatch(call('a'))).decision).toBeNull();
  parent.provide(TOOL_GUARD_SERVICE, denying('late'));
  expect((await registry.dispatch(call('a'))).error).toBe('denied: late');
  ctx.provide(TOOL_GUARD_SERVICE, null);
  expect((await registry.dispatch(call('a'))).decision).toBeNull();
});

test('C3.6 something under the guard token that is no guard denies', async () => {
  const ctx = mountPlugins(Context.root(), [toolRegistryPlugin([toolOf('a')])]);
  ctx.provide(TOOL_GUARD_SERVICE, {} as never);
  const output = await ctx.require(TOOL_REGISTRY_SERVICE).dispatch(call('a'));
  expect(output.decision?.kind).toBe('deny');
});

test('C5.2 arguments that are no arrays, and what is no tool, are TypeErrors', () => {
  expect(() => toolRegistryPlugin('x' as never)).toThrow(
    new TypeError('tools: expected an array, got "x"'),
  );
  expect(() => toolRegistryPlugin([], {} as never)).toThrow(
    new TypeError('guards: expected an array, got an object'),
  );
  const plugin = toolRegistryPlugin([5 as never]);
  expect(() => mountPlugins(Context.root(), [plugin])).toThrow(TypeError);
});

test('C5.2 a list that is changed afterwards changes nothing', () => {
  const tools = [toolOf('a')];
  const plugin = toolRegistryPlugin(tools);
  tools.push(toolOf('b'));
  const ctx = mountPlugins(Context.root(), [plugin]);
  expect(ctx.require(TOOL_REGISTRY_SERVICE).schemas()).toHaveLength(1);
});
