import { expect, it } from 'vitest';

import { interruptHandler } from '../src/interrupt.ts';
import { FakeClock } from './support/io.ts';

it('cancels at the first press, passes over its echoes, and leaves at the second', () => {
  const clock = new FakeClock();
  const did: string[] = [];
  const press = interruptHandler({
    cancel: () => did.push('cancel'),
    forceExit: () => did.push('exit'),
    now: clock.now,
  });
  press();
  expect(did).toEqual(['cancel']);
  press(); // pnpm and tsx hand the same press on
  clock.pass(499);
  press();
  expect(did).toEqual(['cancel']);
  clock.pass(1);
  press();
  expect(did).toEqual(['cancel', 'exit']);
});
