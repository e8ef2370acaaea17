import { describeValue, isRecord } from '@celestea/core';

/** `name: expected …, got …`, the wording of every complaint about a value in this package. */
export function mismatch(name: string, expected: string, value: unknown): string {
  return `${name}: expected ${expected}, got ${describeValue(value)}`;
}

/**
 * What was given where an answer is due at once. A promise is refused with a `TypeError`, and its
 * rejection taken: nobody else would.
 */
export function atOnce<T>(name: string, given: T): T {
  if (!isRecord(given) || typeof given['then'] !== 'function') return given;
  void Promise.resolve(given).catch(() => undefined);
  throw new TypeError(`${name}: expected an answer at once, got a promise`);
}
