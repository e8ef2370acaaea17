import type { Tool } from '@celestea/core';
import { DefaultToolRegistry } from '@celestea/tools';
import { expect, test } from 'vitest';

import { SharedTools } from '../src/shared-tools.ts';

const tool = (name: string): Tool => ({
  spec: () => ({ name, description: '', parameters: { type: 'object' } }),
  execute: () => Promise.resolve(null),
});

test('a registry that follows has the tools that are there, and those that come', () => {
  const shared = new SharedTools();
  const [first, second, third] = [tool('tea'), tool('milk'), tool('tea')];
  shared.register(first);
  const registries = [new DefaultToolRegistry(), new DefaultToolRegistry()];
  for (const registry of registries) shared.follow(registry);
  shared.register(second);
  shared.register(third); // the server has changed it
  for (const registry of registries) {
    expect(registry.get('tea')).toBe(third);
    expect(registry.get('milk')).toBe(second);
  }
});

test('a name that a registry has from elsewhere stays as it is there', () => {
  const shared = new SharedTools();
  const registry = new DefaultToolRegistry();
  const [own, late] = [tool('tea'), tool('milk')];
  registry.register(own);
  shared.register(tool('tea'));
  shared.follow(registry);
  registry.register(late);
  shared.register(tool('milk'));
  shared.register(tool('tea'));
  expect(registry.get('tea')).toBe(own);
  expect(registry.get('milk')).toBe(late);
});
