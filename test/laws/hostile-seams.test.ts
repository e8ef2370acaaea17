import { describe, expect, test } from 'vitest';

import { assertLogValid } from '@celestea/agent-loop/testing';
import { AgentError, type TurnOutcome } from '@celestea/core';

import { assertRequestValid } from '../support/request-checker.ts';
import type { Settled } from '../support/turn.ts';
import type { Behaviour } from './hostile-behaviours.ts';
import { drive, label, watched } from './hostile-drive.ts';
import { CELLS, type Cell, type Effect } from './hostile-places.ts';
import { World, type HookPlace } from './hostile-world.ts';

function checkEnd(effect: Effect, behaviour: Behaviour, end: Settled): void {
  if (effect.kind === 'ends') {
    if ('error' in end) throw new Error('it rejected', { cause: end.error });
    expect(label(end.resolved as TurnOutcome)).toBe(effect.as);
    return;
  }
  if (!('error' in end)) throw new Error(`it resolved with ${String(end.resolved)}`);
  const { error } = end;
  switch (effect.with) {
    case 'its fault': // a Proxy that throws can be compared, and nothing else
      expect(Object.is(error, behaviour.fault), 'the very fault').toBe(true);
      return;
    case 'TypeError':
      expect(error).toBeInstanceOf(TypeError);
      return;
    case 'AgentError':
      expect(error).toBeInstanceOf(AgentError);
      return;
    case 'an Error':
      expect(error).toBeInstanceOf(Error);
      return;
    default:
      effect.with satisfies never;
  }
}

function checkLog(world: World, effect: Effect, { behaviour }: Cell): void {
  const written = effect.kind === 'ends' ? 'a turn' : effect.written;
  const kinds = world.events.map(({ kind }) => kind);
  if (written === 'nothing') {
    expect(world.log.rows.filter(({ type }) => type !== 'user_message')).toEqual([]);
    expect(kinds).toEqual([]);
    return;
  }
  if (behaviour.name !== 'appends a user message') {
    assertLogValid(world.log.rows, { openTurn: written === 'an open turn' });
  }
  if (world.inner.length > 0 && kinds.length === 0) return; // it was the other turn's log
  expect(kinds.filter((kind) => kind === 'turn_end')).toHaveLength(1);
  expect(kinds.at(-1)).toBe('turn_end');
}

async function checkCell(cell: Cell, via: 'bindings' | 'options'): Promise<void> {
  const { hook, place, behaviour } = cell;
  const world = new World(via);
  place.scene?.(world);
  world.corrupt(hook, behaviour, place.corruption);
  const effect = place.effect(behaviour);
  const { end, after } = await watched(() => drive(world));
  const inner = await Promise.all(world.inner);
  checkEnd(effect, behaviour, end);
  if (effect.kind === 'ends') {
    expect(after, 'what it took to end').toBe(effect.after);
    expect([...world.told.keys()].sort()).toEqual([...effect.told].sort());
  }
  checkLog(world, effect, cell);
  if (POLITE.includes(behaviour.manner)) world.requests.forEach(assertRequestValid);
  const innerRan = effect.kind === 'rejects' && effect.with === 'AgentError';
  for (const one of inner) {
    if (innerRan) expect(one).toEqual({ resolved: 'completed' });
    else expect(one).toEqual({ error: expect.any(AgentError) as unknown });
  }
  const before = world.log.rows.length;
  expect(await world.runNext(), 'the next turn').toBe('completed');
  assertLogValid(world.log.rows.slice(before));
}

const POLITE: readonly string[] = ['starts a turn', 'cancels', 'appends'];

/** What can be bound to a loop as well as to a turn. */
const isOption = (hook: HookPlace): boolean =>
  !hook.includes('.') || hook.startsWith('usage.') || hook.startsWith('injections.');

describe('L2.6 L2.7 L4.6 X15 every hook, whatever it does', () => {
  for (const cell of CELLS) {
    test(cell.title, async () => {
      await checkCell(cell, 'options');
      if (isOption(cell.hook)) await checkCell(cell, 'bindings');
    });
  }
});
