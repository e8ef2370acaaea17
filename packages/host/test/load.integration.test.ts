import { expect, test } from 'vitest';

import { runLoad } from '../../../bench/load/load.ts';

const ignore = (): void => undefined;

test('many turns at once are told of whole, whoever stalls, and a kill loses nothing', async () => {
  const { checks, crash } = await runLoad(
    {
      turns: 20,
      readers: 20,
      stalled: 3,
      compares: false,
      readerProcesses: 1,
      paceMs: 1,
      toolMs: 1,
      steps: 8,
      pieces: 8,
      calls: 3,
      pieceLength: 40,
    },
    ignore,
  );
  expect(checks.filter(({ faults }) => faults.length > 0)).toEqual([]);
  expect(checks.length).toBeGreaterThan(15);
  expect(crash.interrupted).toBe(15);
});
