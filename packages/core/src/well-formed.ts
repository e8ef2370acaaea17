import { serdeJsonString } from './json-text.ts';
import { isRecord } from './shape.ts';

/** The escape that a lone surrogate has in JSON text. */
const LONE_SURROGATE = /\\u[dD][89a-fA-F]/;

/**
 * A JSON value without lone surrogates in its texts and keys: itself when it has none, else a
 * copy in which each is the replacement character. Providers refuse the one, and a log that
 * holds it could never be sent again.
 */
export function wellFormedValue(value: unknown): unknown {
  const text = serdeJsonString(value);
  if (!LONE_SURROGATE.test(text)) return value;
  return JSON.parse(text, (_, part: unknown) => {
    if (typeof part === 'string') return part.toWellFormed();
    if (!isRecord(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, of]) => [key.toWellFormed(), of]));
  });
}
