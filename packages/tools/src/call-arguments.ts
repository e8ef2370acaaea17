import { describeValue } from '@celestea/core';

import type { SchemaCheck } from './schema-check.ts';
import { cutText } from './text.ts';
import { thrownText } from './thrown.ts';

const MAX_ERROR = 2_000;
const MAX_REASON = 300;

/** The arguments of a call as they will be used, or why they cannot be. */
export type CallArguments =
  | { readonly ok: true; readonly args: unknown }
  | { readonly ok: false; readonly error: string };

/**
 * The arguments of a call, read and checked. Nothing, `null` and a blank string are what
 * providers send for a call without arguments, and count as `{}`; text that is JSON is parsed,
 * unless the schema asks for text and takes it as it is.
 *
 * What is given is a copy: plain JSON, of which the caller, and its log, keep no part. A key
 * `__proto__` in it is a property like any other.
 */
export function readArguments(
  given: unknown,
  schema: Record<string, unknown>,
  check: SchemaCheck,
): CallArguments {
  if (typeof given === 'string' && asksForText(schema) && check(given).length === 0) {
    return { ok: true, args: given };
  }
  let args: unknown;
  try {
    args = plainArguments(given);
  } catch (thrown) {
    const came = typeof given === 'string' ? excerpt(given) : describeValue(given);
    const why = cutText(thrownText(thrown), MAX_REASON);
    return refused([`arguments: expected JSON, got ${came} (${why})`]);
  }
  const faults = check(args);
  return faults.length === 0 ? { ok: true, args } : refused(faults);
}

function plainArguments(given: unknown): unknown {
  const text: unknown = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  if (typeof text !== 'string') throw new TypeError('it has no form in JSON'); // a function
  if (text.trim() === '') return {};
  return (JSON.parse(text) as unknown) ?? {};
}

function asksForText({ type }: Record<string, unknown>): boolean {
  return type === 'string' || (Array.isArray(type) && type.includes('string'));
}

const excerpt = (text: string): string => JSON.stringify(cutText(text, 80));

const refused = (faults: readonly string[]): CallArguments => ({
  ok: false,
  error: cutText(`not run, the arguments do not fit: ${faults.join('\n')}`, MAX_ERROR),
});
