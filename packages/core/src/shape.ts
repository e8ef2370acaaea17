/** Whether a value is an object that is no array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Refuses what does not fit with a `TypeError` that names it, what was expected and what came. */
export function expectThat(
  fits: boolean,
  name: string,
  expected: string,
  came: unknown,
): asserts fits {
  if (!fits) throw new TypeError(`${name}: expected ${expected}, got ${describeValue(came)}`);
}

/** What came, for an error message: its type, and its text where that is short. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (value instanceof Promise) return 'a promise';
  switch (typeof value) {
    case 'string':
      return value.length <= 40 ? JSON.stringify(value) : 'a string';
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'object':
      return 'an object';
    default:
      return `a ${typeof value}`;
  }
}
