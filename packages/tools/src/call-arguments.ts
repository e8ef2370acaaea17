import { describeValue } from '@celestea/core';

import type { SchemaCheck } from './schema-check.ts';
import { cutText } from './text.ts';
import { thrownText } from './thrown.ts';

const MAX_ERROR = 2_000;
const MAX_REASON = 300;
/** Data as deep and as wide as this is copied without writing and parsing it. */
const MAX_SMALL_DEPTH = 8;
const MAX_SMALL_WIDTH = 64;

/** The arguments of a call as they will be used, or why they cannot be. */
export type CallArguments =
  | {
      readonly ok: true;
      /** What the tool gets, to do with as it likes. */
      readonly args: unknown;
      /** Makes the same once more, frozen through and through: what guards and approvers see. */
      readonly judged: () => unknown;
    }
  | { readonly ok: false; readonly error: string };

/**
 * The arguments of a call, read and checked. Nothing, `null` and a blank string are what
 * providers send for a call without arguments, and count as `{}`; text that is JSON is parsed,
 * unless the schema asks for text and takes it as it is.
 *
 * What is given is a copy: plain JSON, of which the caller, and its log, keep no part. A key
 * `__proto__` in it is a property like any other. A number such as `1e999`, which JavaScript
 * reads as infinity, is refused.
 */
export function readArguments(
  given: unknown,
  schema: Record<string, unknown>,
  check: SchemaCheck,
): CallArguments {
  if (typeof given === 'string' && asksForText(schema) && check(given).length === 0) {
    return { ok: true, args: given, judged: () => given };
  }
  let args: unknown;
  try {
    args = typeof given === 'string' ? undefined : smallCopy(given ?? {}, MAX_SMALL_DEPTH);
    args ??= JSON.parse(argumentsText(given), refuseInfinity) as unknown;
  } catch (thrown) {
    const came = typeof given === 'string' ? JSON.stringify(cutText(given, 80)) : describeValue(given);
    const why = cutText(thrownText(thrown), MAX_REASON);
    return refused([`arguments: expected JSON, got ${came} (${why})`]);
  }
  const faults = check(args);
  if (faults.length > 0) return refused(faults);
  return { ok: true, args, judged: () => JSON.parse(JSON.stringify(args), freeze) as unknown };
}

/** The JSON text of the arguments; that of `{}` when there are none. */
function argumentsText(given: unknown): string {
  const text: unknown = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  if (typeof text !== 'string') throw new TypeError('it has no form in JSON'); // a function
  const trimmed = text.trim();
  return trimmed === '' || trimmed === 'null' ? '{}' : text;
}

const freeze = (_key: string, part: unknown): unknown => Object.freeze(part);

function refuseInfinity(_key: string, part: unknown): unknown {
  if (typeof part !== 'number' || Number.isFinite(part)) return part;
  throw new RangeError('a number in it is too large');
}

/**
 * A copy of small, plain data, as writing and parsing it would give, at a third of the cost;
 * `undefined` where that takes more care.
 */
function smallCopy(value: unknown, depth: number): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : undefined; // no -0
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object' || depth === 0 || 'toJSON' in value) return undefined;
  const isList = Array.isArray(value);
  if (Object.getPrototypeOf(value) !== (isList ? Array : Object).prototype) return undefined;
  if (isList && value.length > MAX_SMALL_WIDTH) return undefined;
  const keys: (string | number)[] = isList ? [...value.keys()] : Object.keys(value);
  if (keys.length > MAX_SMALL_WIDTH) return undefined;
  const copy: object = isList ? [] : {};
  for (const key of keys) {
    const part = smallCopy((value as Record<string | number, unknown>)[key], depth - 1);
    if (part === undefined || key === '__proto__') return undefined;
    (copy as Record<string | number, unknown>)[key] = part;
  }
  return copy;
}

function asksForText({ type }: Record<string, unknown>): boolean {
  return type === 'string' || (Array.isArray(type) && type.includes('string'));
}

const refused = (faults: readonly string[]): CallArguments => ({
  ok: false,
  error: cutText(`not run, the arguments do not fit: ${faults.join('\n')}`, MAX_ERROR),
});
