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
  let text: string | null = null;
  try {
    args = typeof given === 'string' ? undefined : smallCopy(given ?? {}, MAX_SMALL_DEPTH);
    if (args === undefined) {
      text = argumentsText(given);
      args = JSON.parse(text);
      forEachValue(args, refuseInfinity);
    }
  } catch (thrown) {
    const came = typeof given === 'string' ? excerpt(given) : described(given);
    const why = cutText(thrownText(thrown), MAX_REASON);
    return refused([`arguments: expected JSON, got ${came} (${why})`]);
  }
  const faults = check(args);
  return faults.length === 0
    ? { ok: true, args, judged: () => frozen(JSON.parse(text ?? JSON.stringify(args))) }
    : refused(faults);
}

/** The JSON text of the arguments; that of `{}` when there are none. */
function argumentsText(given: unknown): string {
  const text: unknown = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  if (typeof text !== 'string') throw new TypeError('it has no form in JSON'); // a function
  const trimmed = text.trim();
  return trimmed === '' || trimmed === 'null' ? '{}' : text;
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
  return isList ? smallList(value, depth) : smallObject(value as Record<string, unknown>, depth);
}

function smallList(value: readonly unknown[], depth: number): unknown[] | undefined {
  const { length } = value;
  if (length > MAX_SMALL_WIDTH) return undefined;
  const copy: unknown[] = [];
  for (let index = 0; index < length; index += 1) {
    const part = smallCopy(value[index], depth - 1);
    if (part === undefined) return undefined;
    copy.push(part);
  }
  return copy;
}

function smallObject(value: Record<string, unknown>, depth: number): object | undefined {
  const copy: Record<string, unknown> = {};
  const keys = Object.keys(value);
  if (keys.length > MAX_SMALL_WIDTH) return undefined;
  for (const key of keys) {
    const part = smallCopy(value[key], depth - 1);
    if (part === undefined || key === '__proto__') return undefined;
    copy[key] = part;
  }
  return copy;
}

/** Freezes what was parsed, at any depth. */
function frozen(root: unknown): unknown {
  forEachValue(root, Object.freeze);
  return root;
}

function refuseInfinity(value: unknown): void {
  if (typeof value !== 'number' || Number.isFinite(value)) return;
  throw new RangeError('a number in it is too large');
}

/** Calls back with each value of what was parsed, at any depth. */
function forEachValue(root: unknown, visit: (value: unknown) => void): void {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    visit(value);
    if (typeof value !== 'object' || value === null) continue;
    for (const child of Object.values(value) as unknown[]) open.push(child);
  }
}

/** Even a look at a proxy can throw. */
function described(value: unknown): string {
  try {
    return describeValue(value);
  } catch {
    return 'what cannot be read';
  }
}

function asksForText({ type }: Record<string, unknown>): boolean {
  return type === 'string' || (Array.isArray(type) && type.includes('string'));
}

const excerpt = (text: string): string => JSON.stringify(cutText(text, 80));

const refused = (faults: readonly string[]): CallArguments => ({
  ok: false,
  error: cutText(`not run, the arguments do not fit: ${faults.join('\n')}`, MAX_ERROR),
});
