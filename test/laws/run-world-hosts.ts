/** What the host of a world gives its turn. */
import { trimContext, type AgentLoopBindings } from '@celestea/agent-loop';
import type { InjectionSource } from '@celestea/core';

import type { WorldClock } from './run-world-clock.ts';
import { raise, rejection } from './worlds-values.ts';
import type { Hook, World } from './worlds.ts';

/** The messages of a world, handed over as its plan says; they leave `waiting` then. */
export function steeringOf(world: World, waiting: string[]): InjectionSource | undefined {
  if (world.steering === null) return undefined;
  const { drain, pending } = world.steering;
  const take = (): { text: string; from: string }[] =>
    waiting.splice(0).map((text) => ({ text, from: 'Ann' }));
  const drains: Record<typeof drain, () => unknown> = {
    ok: take,
    throws: () => raise('hostile'),
    promise: () => Promise.reject(new Error('not at once')),
    null: () => null,
    junk: () => [null, 7, {}, { text: 5, from: 'x' }, ...take(), undefined],
  };
  const pendings: Record<Exclude<typeof pending, 'absent'>, () => number> = {
    ok: () => waiting.length,
    throws: () => raise('error'),
    always: () => 1,
    NaN: () => Number.NaN,
  };
  const counted = pending === 'absent' ? {} : { pending: pendings[pending] };
  const source = { drain: drains[drain], ...counted };
  return source as InjectionSource; // it breaks its contract on purpose
}

/** Where its long results are put. */
export function spillOf(world: World, clock: WorldClock): () => Promise<unknown> {
  const ref = { locator: 'store/1', bytes: 1, retrievalHint: 'Ask for it.' };
  const ways: Record<World['retention'], () => unknown> = {
    absent: () => null,
    ok: () => ref,
    null: () => null,
    throws: () => raise('hostile'),
    rejects: () => rejection('error'),
    junk: () => 7,
    hangs: () => new Promise(() => undefined),
    late: () => clock.pass(2).then(() => ref),
  };
  return ways[world.retention] as () => Promise<unknown>;
}

/** What a hook does at this step. */
async function hooked(clock: WorldClock, hook: Hook, step: number): Promise<void> {
  if (hook.step !== step || hook.does === 'nothing') return;
  await clock.pass(hook.does === 'hang' ? 'never' : 2);
  if (hook.does === 'reject') raise(hook.error);
}

/** Its `prepareStep` and its `contextPolicy`, which cuts plainly. */
export function hooksOf(
  { prepare, policy }: World,
  clock: WorldClock,
): Pick<AgentLoopBindings, 'prepareStep' | 'contextPolicy'> {
  let asked = 0;
  const breaks = (hook: Hook, step: number): void => {
    if (hook.does === 'throw' && hook.step === step) raise(hook.error);
  };
  return {
    ...(prepare !== null && {
      prepareStep: (request, { step }) => {
        breaks(prepare, step);
        return hooked(clock, prepare, step).then(() => ({ ...request, model: 'other' }));
      },
    }),
    ...(policy !== null && {
      contextPolicy: ({ messages, systemTokens, config: c }) => {
        const step = asked;
        asked += 1;
        breaks(policy, step);
        const window = [c.context_window_tokens, c.context_trim_threshold] as const;
        const result = trimContext(messages, systemTokens, ...window, c.context_keep_recent);
        return hooked(clock, policy, step).then(() => result);
      },
    }),
  };
}
