import { afterEach } from 'vitest';

const ends: (() => unknown)[] = [];

// Not `onTestFinished`: that comes after the guards have looked at what a test leaves.
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Does something after the test, the last thing first. */
export function atEnd(end: () => unknown): void {
  ends.push(end);
}
