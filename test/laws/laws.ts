import { vi } from 'vitest';
import fc from 'fast-check';

import { runWorld, type Ran } from './run-world.ts';
import { worlds } from './worlds-arbitrary.ts';

const runsFrom = (text: string): number => Number(text);

/** Worlds a law; more are played with CELESTEA_RUNS. */
export const RUNS: number = runsFrom(process.env['CELESTEA_RUNS'] ?? '250');

/** Holds a law against random worlds; gives how many were played. */
export async function holds(law: (ran: Ran) => void | Promise<void>): Promise<number> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  let played = 0;
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      vi.clearAllTimers();
      played += 1;
      await law(await runWorld(world));
    }),
    { numRuns: RUNS },
  );
  return played;
}
