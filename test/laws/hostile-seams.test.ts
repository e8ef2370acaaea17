import { describe, expect, test } from 'vitest';

import { assertLogValid } from '@celestea/agent-loop/testing';
import type { TurnOutcome } from '@celestea/core';

import { quiet, settled, type Settled } from '../support/turn.ts';
import { World, type Act, type HookName } from './hostile-world.ts';

const FAULT = new Error('a fault of the host');

/** What a hook does instead of its work, or, of one that has an effect, after it. */
const BEHAVIOURS = ['throws', 'rejects', 'never settles', 'gives {}', 'gives a promise'] as const;
type Behaviour = (typeof BEHAVIOURS)[number];

/**
 * How a turn comes out: its outcome (of an error its kind) and the diagnostics that come. A turn
 * that is `stuck` is cancelled and ends then; one that is `held` waits for its hook even so. It
 * `breaks` when it rejects with the fault after its turn_end, is left `open` when that is not in
 * the log, and is `refused` when it rejects with nothing in the log. A wrong answer breaks it,
 * too, with a TypeError.
 */
type Fate = string;
type Fates = readonly [throws: Fate, rejects: Fate, never: Fate, nonsense: Fate, promise: Fate];

const same = (fate: Fate): Fates => [fate, fate, fate, fate, fate];
/** What is told something: a promise is not waited for, what it gives is nothing to anyone. */
const listener = (fault: string): Fates => [fault, fault, 'completed', 'completed', 'completed'];
const awaited = (fault: Fate, nonsense: Fate = fault): Fates =>
  [fault, fault, 'stuck', nonsense, 'completed'];
/** An async `append` breaks the turn as late as its promise says so. */
const append = (thrown: Fate): Fates => [thrown, 'breaks', 'completed', 'completed', 'completed'];

const FATES: Record<HookName, Fates> = {
  'Context.get': same('refused'),
  'Llm.generate': awaited('generate model_failed', 'generate'),
  'stream.asyncIterator': same('stream model_failed'),
  'stream.next': awaited('stream model_failed', 'stream'),
  'stream.return': same('stream'),
  'append.turn_start': append('refused'),
  'append.user_message': append('breaks'),
  'append.thinking_delta': append('breaks'),
  'append.assistant_message': append('breaks'),
  'append.tool_call': append('breaks'),
  'append.tool_result': append('breaks'),
  'append.turn_end': append('open'),
  'SessionLog.deriveMessages': same('breaks'),
  'SessionLog.nextTurnId': same('refused'),
  'SessionLog.flush': ['breaks', 'breaks', 'held', 'completed', 'completed'],
  'ToolRegistry.schemas': same('breaks'),
  'ToolRegistry.dispatch': [
    'completed',
    'completed',
    'stuck tool_abandoned',
    'completed foreign_call_id',
    'completed',
  ],
  'usage.record': listener('completed usage_failed'),
  'injections.drain': same('completed injections_failed'),
  'injections.pending': [
    'completed injections_failed',
    'completed injections_failed',
    'completed injections_failed',
    'completed',
    'completed injections_failed',
  ],
  'retention.spill': awaited('completed spill_failed'),
  sink: listener('completed sink_failed'),
  contextPolicy: awaited('generate'),
  prepareStep: awaited('generate'),
  onDiagnostic: [
    'completed', // and what it was to be told is lost
    'completed usage_failed',
    'completed usage_failed',
    'completed usage_failed',
    'completed usage_failed',
  ],
};

/** What these are called for happens all the same, but for one that throws. */
const hasEffect = (hook: HookName): boolean =>
  hook.startsWith('append.') || hook === 'sink' || hook === 'onDiagnostic';

const CELLS = (Object.keys(FATES) as HookName[]).flatMap((hook) =>
  BEHAVIOURS.map((behaviour, index) => ({ hook, behaviour, fate: FATES[hook][index] ?? '' })),
);

interface Cell {
  readonly hook: HookName;
  readonly behaviour: Behaviour;
}

interface Acting {
  readonly act: Act;
  /** Lets go of what never settles. */
  readonly release: () => void;
}

function acting(hook: HookName, behaviour: Behaviour): Acting {
  const held: ((value: undefined) => void)[] = [];
  const misbehave: Act = (good) => {
    switch (behaviour) {
      case 'throws':
        throw FAULT;
      case 'rejects':
        return Promise.reject(FAULT);
      case 'never settles':
        return new Promise((resolve) => held.push(resolve));
      case 'gives {}':
        return {};
      case 'gives a promise':
        return Promise.resolve(good());
      default:
        return behaviour satisfies never;
    }
  };
  let acted = false;
  const act: Act = (good) => {
    if (acted && hook.startsWith('append.')) return good(); // a row is refused once
    acted = true;
    if (!hasEffect(hook)) return misbehave(good);
    if (behaviour !== 'throws') good();
    return misbehave(() => undefined);
  };
  const release = (): void => {
    for (const resolve of held.splice(0)) resolve(undefined);
  };
  return { act, release };
}

/** Far more than a turn of these takes when nothing holds it. */
const ROUNDS = 300;

/** Runs the turn to its end, and says what that took. */
async function drive(world: World, release: () => void): Promise<{ end: Settled; took: string }> {
  const ends: Settled[] = [];
  void settled(world.run()).then((end) => ends.push(end));
  const rest = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS && ends.length === 0; round += 1) await quiet(1);
  };
  let took = 'nothing';
  await rest();
  if (ends.length === 0) {
    took = 'stuck';
    world.cancel();
    await rest();
  }
  while (ends.length === 0) {
    took = 'held';
    release(); // a flush may hold it anew at each call
    await rest();
  }
  release();
  await quiet(); // an unhandled rejection fails the run
  return { end: ends[0] ?? { resolved: undefined }, took };
}

/** Elsewhere a promise is a wrong answer, whatever becomes of it. */
const isWaitedFor = (hook: HookName): boolean =>
  hook.startsWith('append.') || hook === 'SessionLog.flush';

function checkEnd({ hook, behaviour }: Cell, fate: string, took: string, end: Settled): void {
  if ('error' in end) {
    expect(['breaks', 'open', 'refused']).toContain(fate);
    if (behaviour === 'throws' || (behaviour === 'rejects' && isWaitedFor(hook))) {
      expect(end.error).toBe(FAULT);
    } else expect(end.error).toBeInstanceOf(TypeError);
    return;
  }
  const outcome = end.resolved as TurnOutcome;
  const label = typeof outcome === 'string' ? outcome : outcome.error.kind;
  expect(label === 'cancelled' ? took : label).toBe(fate);
  expect(took).toBe(label === 'cancelled' ? fate : 'nothing');
}

function checkLog({ hook, behaviour }: Cell, fate: string, { log, events }: World): void {
  const rows = log.rows.map(({ type }) => type);
  if (fate === 'refused') {
    expect(rows).toEqual([]);
    expect(events).toEqual([]);
    return;
  }
  assertLogValid(log.rows, { openTurn: fate === 'open' });
  expect(rows.filter((type) => type === 'turn_end')).toHaveLength(fate === 'open' ? 0 : 1);
  if (hook === 'sink' && behaviour === 'throws') return; // it was told of nothing
  expect(events.filter(({ kind }) => kind === 'turn_end')).toHaveLength(1);
  expect(events.at(-1)?.kind).toBe('turn_end');
}

describe('L2.6 L2.7 L4.6 X15 every hook, whatever it does', () => {
  test.each(CELLS)('L2.6 L2.7 L4.6 X15 $hook $behaviour: $fate', async (cell) => {
    const { hook, behaviour, fate } = cell;
    const { act, release } = acting(hook, behaviour);
    const world = new World(hook, act);
    const { end, took } = await drive(world, release);
    const [outcome = '', ...told] = fate.split(' ');
    expect(world.acted).toBe(true);
    checkEnd(cell, outcome, took, end);
    checkLog(cell, outcome, world);
    if (!('error' in end)) expect([...world.told]).toEqual(told);
    const before = world.log.rows.length;
    expect(await world.runNext(), 'the next turn').toBe('completed');
    assertLogValid(world.log.rows.slice(before));
  });
});
