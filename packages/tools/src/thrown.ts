import { serdeJsonString } from '@celestea/core';

import { plainValue } from './plain-value.ts';
import { cutText } from './text.ts';

const MAX_LENGTH = 8_000;
/** How far causes are followed; also what ends a cause that is its own cause. */
const MAX_CAUSES = 3;
const MAX_SIBLINGS = 5;
const NO_REASON = 'failed without saying why';

/** What `String(…)` leaves of values that say nothing. */
const EMPTY_WORDS = new Set(['', 'undefined', 'null', '[object Object]']);

/**
 * What a model is told of anything that was thrown: the message, with its causes. Never empty,
 * never `[object Object]` or `undefined`, at most 8000 characters, and it never throws itself,
 * whatever getter or proxy was thrown.
 */
export function thrownText(thrown: unknown): string {
  try {
    const text = usable(describe(thrown, MAX_CAUSES)) ?? NO_REASON;
    return cutText(text, MAX_LENGTH).toWellFormed();
  } catch {
    return NO_REASON;
  }
}

function usable(text: unknown): string | null {
  const trimmed = typeof text === 'string' ? text.trim() : '';
  return EMPTY_WORDS.has(trimmed) ? null : trimmed;
}

function describe(thrown: unknown, causes: number): string | null {
  switch (typeof thrown) {
    case 'string':
      return usable(thrown);
    case 'undefined':
      return null;
    case 'function':
      return 'a function was thrown';
    case 'object':
      return thrown === null ? null : describeObject(thrown, causes);
    default:
      return `${String(thrown)} was thrown`;
  }
}

function describeObject(thrown: object, causes: number): string | null {
  const isError = thrown instanceof Error;
  if (!isError && !('message' in thrown && usable(thrown.message) !== null)) {
    const text = serdeJsonString(plainValue(thrown));
    return /^(?:null|\{\}|\[\]|"")$/.test(text) ? null : `${text} was thrown`;
  }
  const message = usable(thrown.message) ?? describeSilent(thrown, causes);
  const cause = causes > 0 && 'cause' in thrown ? describe(thrown.cause, causes - 1) : null;
  if (message === null || cause === null) return message ?? cause;
  return message.includes(cause) ? message : `${message}: ${cause}`;
}

/** An error without a message may still have siblings (`AggregateError`), a code or a name. */
function describeSilent(thrown: object, causes: number): string | null {
  if (causes > 0 && 'errors' in thrown && Array.isArray(thrown.errors)) {
    const texts = thrown.errors.slice(0, MAX_SIBLINGS).map((each) => describe(each, causes - 1));
    const joined = texts.filter((text) => text !== null).join('; ');
    if (joined !== '') return joined;
  }
  const code = 'code' in thrown ? usable(thrown.code) : null;
  const name = 'name' in thrown ? usable(thrown.name) : null;
  const telling = name === 'Error' ? null : name;
  return [telling, code].filter((word) => word !== null).join(' ') || null;
}
