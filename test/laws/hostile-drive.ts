import { expect } from 'vitest';

import type { TurnOutcome } from '@celestea/core';

import { quiet, settled, type Settled } from '../support/turn.ts';
import type { World } from './hostile-world.ts';

/** Far more than a turn of these takes when nothing holds it. */
const ROUNDS = 300;

/** What it takes a turn to end: nothing, a cancel, or that its hook lets go, too. */
export type EndsAfter = 'nothing' | 'cancel' | 'release';

/** An outcome; of an error, its kind. */
export const label = (outcome: TurnOutcome): string =>
  typeof outcome === 'string' ? outcome : outcome.error.kind;

/** Runs the turn of a world to its end, and says what that took. */
export async function drive(world: World): Promise<{ end: Settled; after: EndsAfter }> {
  const ends: Settled[] = [];
  const ran = settled(world.run()).then((end) => ends.push(end));
  const rest = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS && ends.length === 0; round += 1) await quiet(1);
  };
  let after: EndsAfter = 'nothing';
  await rest();
  if (ends.length === 0) {
    after = 'cancel';
    world.cancel();
    await rest();
  }
  if (ends.length === 0) after = 'release';
  while (ends.length === 0) {
    world.release(); // a flush may hold it anew at each call
    await rest();
  }
  await ran;
  world.release();
  await quiet();
  return { end: ends[0] ?? { resolved: undefined }, after };
}

/** What `run` gives; it may leave no rejection unhandled. */
export async function watched<T>(run: () => Promise<T>): Promise<T> {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => {
    unhandled.push(reason);
  };
  process.on('unhandledRejection', onUnhandled);
  try {
    const result = await run();
    await quiet();
    expect(unhandled.length, 'unhandled rejections').toBe(0);
    return result;
  } finally {
    process.off('unhandledRejection', onUnhandled);
  }
}
