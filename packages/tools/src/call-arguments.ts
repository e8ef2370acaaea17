import { describeValue } from '@celestea/core';

import type { SchemaCheck } from './schema-check.ts';
import { cutText } from './text.ts';
import { thrownText } from './thrown.ts';

const MAX_ERROR = 2_000;
const MAX_REASON = 300;

/** The arguments of a call as they will be used, or why they cannot be. */
export type CallArguments =
  | {
      readonly ok: true;
      /** What the tool gets, to do with as it likes. */
      readonly args: unknown;
      /** The same once more, frozen through and through: what guards and approvers see. */
      readonly judged: unknown;
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
    return { ok: true, args: given, judged: given };
  }
  let args: unknown;
  let judged: unknown;
  try {
    const text = argumentsText(given);
    args = JSON.parse(text);
    judged = frozen(JSON.parse(text));
  } catch (thrown) {
    const came = typeof given === 'string' ? excerpt(given) : described(given);
    const why = cutText(thrownText(thrown), MAX_REASON);
    return refused([`arguments: expected JSON, got ${came} (${why})`]);
  }
  const faults = check(args);
  return faults.length === 0 ? { ok: true, args, judged } : refused(faults);
}

/** The JSON text of the arguments; that of `{}` when there are none. */
function argumentsText(given: unknown): string {
  const text: unknown = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  if (typeof text !== 'string') throw new TypeError('it has no form in JSON'); // a function
  const trimmed = text.trim();
  return trimmed === '' || trimmed === 'null' ? '{}' : text;
}

/** Freezes what was parsed, at any depth. Throws when a number in it is beyond all numbers. */
function frozen(root: unknown): unknown {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new RangeError('a number in it is too large');
    }
    if (typeof value !== 'object' || value === null) continue;
    Object.freeze(value);
    for (const child of Object.values(value) as unknown[]) open.push(child);
  }
  return root;
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
