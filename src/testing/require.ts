import { describeValue } from '@celestea/core';

/** Throws a `TypeError` that says what was expected and what came. */
export function requireThat(fits: boolean, expected: string, came: unknown): void {
  if (!fits) throw new TypeError(`${expected}, got ${describeValue(came)}`);
}
