import type { Tool } from '@celestea/core';
import { DefaultToolRegistry } from '@celestea/tools';
import { expect, onTestFinished, test, vi } from 'vitest';

import { SharedTools } from '../src/mcp-servers.ts';

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

test('registries that are gone are forgotten, also where no tool ever comes', () => {
  let looks = 0;
  const forget: (() => void)[] = [];
  class Gone {
    deref(): undefined {
      looks += 1;
      return undefined;
    }
  }
  /** Tells of what is gone when the test says so. */
  class Finalizations {
    readonly #onGone: (held: unknown) => void;

    constructor(onGone: (held: unknown) => void) {
      this.#onGone = onGone;
    }

    register(_: object, held: unknown): void {
      forget.push(() => {
        this.#onGone(held);
      });
    }
  }
  vi.stubGlobal('WeakRef', Gone);
  vi.stubGlobal('FinalizationRegistry', Finalizations);
  onTestFinished(() => {
    vi.unstubAllGlobals();
  });
  const shared = new SharedTools();
  for (let session = 0; session < 10_000; session += 1) shared.follow(new DefaultToolRegistry());
  expect(looks).toBe(0);
  shared.register(tool('tea'));
  expect(looks).toBe(10_000);
  for (const one of forget) one();
  shared.register(tool('milk'));
  expect(looks).toBe(10_000);
});

test('however many registries follow, all that live are kept current', () => {
  const shared = new SharedTools();
  const registries = Array.from({ length: 200 }, () => new DefaultToolRegistry());
  for (const registry of registries) shared.follow(registry);
  const tea = tool('tea');
  shared.register(tea);
  for (const registry of registries) expect(registry.get('tea')).toBe(tea);
});
