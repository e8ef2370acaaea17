/** What a turn may take; `null` is no limit of ours. */
export interface TurnLimits {
  /** Milliseconds the whole turn may take before it is cancelled. */
  readonly timeoutMs: number | null;
  /** Milliseconds to wait for the model's next event. */
  readonly idleTimeoutMs: number | null;
  /** Milliseconds one call of a tool may take. */
  readonly toolTimeoutMs: number | null;
  /** Requests to the model. */
  readonly maxSteps: number | null;
  /** Tokens of the context window. */
  readonly windowTokens: number | null;
}

/** The longest delay that a timer can count, in milliseconds. */
const LONGEST_DELAY: number = 2 ** 31 - 1;

const LONGEST_SECONDS = Math.floor(LONGEST_DELAY / 1000);

/** A number as it was typed, or what was expected in its place. */
export type ReadNumber =
  { readonly ok: true; readonly value: number } | { readonly ok: false; readonly expected: string };

/** Seconds, a fraction allowed; the value is in milliseconds. */
export function readSeconds(text: string): ReadNumber {
  const value = /^\d+(\.\d+)?$/.test(text) ? Math.round(Number(text) * 1000) : NaN;
  if (value >= 1 && value <= LONGEST_SECONDS * 1000) return { ok: true, value };
  const bounds = `above 0, up to ${String(LONGEST_SECONDS)}`;
  return { ok: false, expected: `a number of seconds ${bounds}` };
}

/** A whole number, 1 or more. */
export function readCount(text: string): ReadNumber {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= 1 && Number.isSafeInteger(value)) return { ok: true, value };
  return { ok: false, expected: 'a whole number, 1 or more' };
}

/** A whole number of milliseconds that a timer can count. */
export function readMilliseconds(text: string): ReadNumber {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value <= LONGEST_DELAY) return { ok: true, value };
  const expected = `a whole number of milliseconds from 0 to ${String(LONGEST_DELAY)}`;
  return { ok: false, expected };
}

const LAST_PORT = 65_535;

/** The number of a port; 0 is any that is free. */
export function readPort(text: string): ReadNumber {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value <= LAST_PORT) return { ok: true, value };
  return { ok: false, expected: `a whole number from 0 to ${String(LAST_PORT)}` };
}
