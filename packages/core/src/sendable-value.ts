import { MAX_JSON_LEVELS, MAX_PLAIN_DEPTH, plainKeys, writeJson } from './json-text.ts';
import { isRecord } from './shape.ts';

/** The escape that a lone surrogate has in JSON text. */
const LONE_SURROGATE = /\\u[dD][89a-fA-F]/;

/**
 * A JSON value that a request may hold: itself when it is fit, else a copy. Providers refuse lone
 * surrogates, which become the replacement character, and adapters overflow the stack at values
 * that are nested too deep, which are cut with a notice at {@link MAX_JSON_LEVELS} (X32). Never
 * throws; a value whose text no string can hold is `null`.
 */
export function sendableValue(value: unknown): unknown {
  if (isSmallAndWellFormed(value, MAX_PLAIN_DEPTH)) return value;
  const written = writeJson(value, MAX_JSON_LEVELS);
  if (written === null) return null;
  const { text, levels } = written;
  if (levels <= MAX_JSON_LEVELS && !LONE_SURROGATE.test(text)) return value;
  return JSON.parse(text, (_, part: unknown) => {
    if (typeof part === 'string') return part.toWellFormed();
    if (!isRecord(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, of]) => [key.toWellFormed(), of]));
  });
}

/** Whether data is small and plain, as nearly all is, and in need of no change. */
function isSmallAndWellFormed(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  try {
    for (const key of plainKeys(value, depth)) {
      const field = (value as Record<string | number, unknown>)[key];
      const isFit = isSmallAndWellFormed(key, 0) && isSmallAndWellFormed(field, depth - 1);
      if (!isFit) return false;
    }
    return true;
  } catch {
    return false; // it takes more care
  }
}
