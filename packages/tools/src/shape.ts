import { describeValue } from '@celestea/core';

/** Whether a value is an object that is no array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `name: expected …, got …`, the wording of every complaint about a value in this package. */
export function mismatch(name: string, expected: string, value: unknown): string {
  return `${name}: expected ${expected}, got ${describeValue(value)}`;
}
