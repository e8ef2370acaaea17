import { expect, test } from 'vitest';

import type { AgentLoopBindings, TurnOptions } from '@celestea/agent-loop';

import { BEHAVIOURS } from './hostile-behaviours.ts';
import { CELLS, HOOKS, rowsOf, unused } from './hostile-places.ts';
import { ODDS, VALUES, type ValuePlace } from './hostile-values.ts';
import { World, type HookPlace } from './hostile-world.ts';

/** Where each option is put to the test; a new one has no entry, and does not compile. */
const OPTIONS: Record<keyof TurnOptions | keyof AgentLoopBindings, readonly string[]> = {
  attachments: ['option.attachments', 'image.attachment_id'],
  signal: ['option.signal'], // and hostile-seams-signal.test.ts
  sink: ['option.sink', 'sink'],
  usage: ['option.usage', 'usage.record'],
  injections: ['option.injections', 'injections.drain', 'injections.pending'],
  contextPolicy: ['option.contextPolicy', 'contextPolicy'],
  prepareStep: ['option.prepareStep', 'prepareStep'],
  timeouts: ['option.timeouts', 'timeouts.streamIdleMs', 'timeouts.toolMs'],
  onDiagnostic: ['option.onDiagnostic', 'onDiagnostic'],
} satisfies Record<string, readonly (HookPlace | ValuePlace)[]>;

test('X1 every option has its rows', () => {
  const rows = [...HOOKS, ...Object.keys(VALUES)];
  for (const [name, places] of Object.entries(OPTIONS)) {
    expect(places[0]).toBe(`option.${name}`);
    expect(rows).toEqual(expect.arrayContaining([...places]));
  }
});

test('every hook has a cell for every behaviour, and names tell cells apart', () => {
  const titles = CELLS.map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
  for (const hook of HOOKS) {
    const cells = CELLS.filter((cell) => cell.hook === hook);
    expect(cells.length % BEHAVIOURS.length).toBe(0);
    expect(cells.length).toBeGreaterThanOrEqual(BEHAVIOURS.length);
  }
  expect(new Set(ODDS.map(({ name }) => name)).size).toBe(ODDS.length);
});

test.each(HOOKS)('%s is called exactly when its row says so', async (hook) => {
  for (const [, place] of rowsOf(hook)) {
    const world = new World();
    place.scene?.(world);
    let calls = 0;
    const good = world.hooks[hook];
    world.hooks[hook] = (...args) => {
      if (place.corruption?.when?.(args) !== false) calls += 1;
      return good(...args);
    };
    await world.run();
    if (place === unused) expect(calls).toBe(0);
    else expect(calls).toBeGreaterThan(0);
  }
});

test('the turn that the tables break completes, and tells of nothing', async () => {
  const world = new World();
  expect(await world.run()).toBe('completed');
  expect(world.told.size).toBe(0);
  expect(world.requests).toHaveLength(3);
});
