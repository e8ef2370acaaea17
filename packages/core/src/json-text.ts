import { utf8Length } from './text.ts';

/** A container that is being written; `source` is the object it came from, before any `toJSON`. */
interface Frame {
  readonly source: object;
  readonly value: object;
  /** The keys of an object, sorted; `null` for an array. */
  readonly keys: readonly string[] | null;
  readonly length: number;
  next: number;
}

/** Data as deep and as wide as this is written without keeping track of where one is. */
export const MAX_PLAIN_DEPTH = 8;
const MAX_PLAIN_WIDTH = 64;

/** Holes are written out, so an array may be far larger than what it holds. */
const MAX_SPARSE_LENGTH = 2 ** 24;

/** Pieces joined at a time: appended one by one, each would cost many times its length. */
const MAX_PIECES = 4096;

/**
 * Compact JSON with the keys of every object in code-unit order, so that the same value
 * always gives the same text (C6.1).
 *
 * It never throws and never overflows the stack: `undefined`, functions, symbols, NaN and
 * infinities become `null`, and so does what cannot be written (a cycle, a getter that
 * throws). A `bigint` is written as its digits, a lone surrogate as its escape.
 *
 * @example serdeJsonString({ b: 1n, a: [undefined] }) // '{"a":[null],"b":1}'
 */
export function serdeJsonString(value: unknown): string {
  try {
    return plainText(value, MAX_PLAIN_DEPTH);
  } catch {
    // it takes more care
  }
  return writeJson(value, Infinity)?.text ?? 'null';
}

/** Whether the text of a value is longer than so many UTF-16 units, or than any string can be. */
export function jsonExceeds(value: unknown, units: number): boolean {
  try {
    if (plainBytes(value, MAX_PLAIN_DEPTH) <= units) return false; // never fewer than units
  } catch {
    // it takes more care
  }
  return (writeJson(value, Infinity)?.text.length ?? Infinity) > units;
}

/** What a model sends or a log holds is handled up to so many levels of objects and arrays (X32). */
export const MAX_JSON_LEVELS = 200;

/** What stands for the objects and arrays that are nested deeper (X32). */
const TOO_DEEP = `[nested deeper than ${String(MAX_JSON_LEVELS)} levels]`;

/** Whether objects and arrays are nested in a value deeper than {@link MAX_JSON_LEVELS}. */
export function exceedsLevels(value: unknown): boolean {
  try {
    plainBytes(value, MAX_PLAIN_DEPTH);
    return false;
  } catch {
    return (writeJson(value, Infinity)?.levels ?? 0) > MAX_JSON_LEVELS;
  }
}

/**
 * Bytes in UTF-8 of the text that {@link serdeJsonString} gives, mostly without making it: to
 * write a text as JSON costs several times what it costs to count it.
 */
export function serdeJsonBytes(value: unknown): number {
  try {
    return plainBytes(value, MAX_PLAIN_DEPTH);
  } catch {
    return utf8Length(serdeJsonString(value));
  }
}

/** Thrown, as a getter may throw, at data that takes more care than the small and plain. */
const NOT_PLAIN = new Error();

/** The text of small, plain data, which nearly all data is; throws at any other. */
function plainText(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return scalarText(value);
  const isList = Array.isArray(value);
  const parts: string[] = [];
  const keys = plainKeys(value, depth);
  if (!isList) keys.sort();
  for (const key of keys) {
    const part = plainText((value as Record<string | number, unknown>)[key], depth - 1);
    parts.push(isList ? part : `${scalarText(key)}:${part}`);
  }
  return isList ? `[${parts.join()}]` : `{${parts.join()}}`;
}

/** What JSON may write in more characters: all but what it surely does not. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** The bytes of that text. */
function plainBytes(value: unknown, depth: number): number {
  if (typeof value === 'string' && !ESCAPED.test(value)) return utf8Length(value) + 2;
  if (typeof value !== 'object' || value === null) return utf8Length(scalarText(value));
  const keys = plainKeys(value, depth);
  let bytes = 1 + (keys.length || 1); // brackets and commas
  for (const key of keys) {
    bytes += plainBytes((value as Record<string | number, unknown>)[key], depth - 1);
    if (typeof key === 'string') bytes += plainBytes(key, 0) + 1;
  }
  return bytes;
}

/** The keys of an object, or the indices of an array, of small, plain data; throws at any other. */
export function plainKeys(value: object, depth: number): (string | number)[] {
  const isList = Array.isArray(value);
  const length = isList ? value.length : 0;
  if (
    depth === 0 ||
    'toJSON' in value ||
    Object.getPrototypeOf(value) !== (isList ? Array : Object).prototype ||
    length > MAX_PLAIN_WIDTH
  ) {
    throw NOT_PLAIN;
  }
  const keys = isList ? [...Array(length).keys()] : Object.keys(value);
  if (keys.length > MAX_PLAIN_WIDTH) throw NOT_PLAIN;
  return keys;
}

/** A value as JSON text. */
export interface WrittenJson {
  readonly text: string;
  /** How deep its objects and arrays are nested, those that were cut included. */
  readonly levels: number;
}

/**
 * Writes a value without recursion; `null` when no string can hold it. Objects and arrays nested
 * deeper than `maxLevels` become a notice.
 */
export function writeJson(root: unknown, maxLevels: number): WrittenJson | null {
  try {
    return writeValue(root, maxLevels);
  } catch {
    return null;
  }
}

function writeValue(root: unknown, maxLevels: number): WrittenJson {
  const stack: Frame[] = [];
  const open = new Set<object>();
  const pieces: string[] = [];
  let text = '';
  let levels = 0;

  const put = (piece: string): void => {
    if (pieces.push(piece) < MAX_PIECES) return;
    text += pieces.join('');
    pieces.length = 0;
  };

  const write = (raw: unknown, key: string): void => {
    const value = plainValue(raw, key, open);
    if (typeof value !== 'object' || value === null) {
      put(scalarText(value));
      return;
    }
    const frame = openFrame(raw as object, value);
    if (frame === null || open.has(value)) {
      put('null');
      return;
    }
    levels = Math.max(levels, stack.length + 1);
    if (stack.length === maxLevels) {
      put(scalarText(TOO_DEEP));
      return;
    }
    open.add(frame.source).add(frame.value);
    stack.push(frame);
    put(frame.keys === null ? '[' : '{');
  };

  write(root, '');
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    if (frame.next === frame.length) {
      put(frame.keys === null ? ']' : '}');
      open.delete(frame.source);
      open.delete(frame.value);
      stack.pop();
      continue;
    }
    if (frame.next > 0) put(',');
    const key = frame.keys === null ? frame.next : (frame.keys[frame.next] ?? '');
    frame.next += 1;
    if (typeof key === 'string') put(`${scalarText(key)}:`);
    write(readKey(frame.value, key), String(key));
  }
  return { text: text + pieces.join(''), levels };
}

/** The text of anything that is no object. */
function scalarText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`; // at half the cost
    case 'number':
      return Math.abs(value) < 1e21 ? String(value) : JSON.stringify(value).replace('e+', 'e');
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      return 'null';
  }
}

/** What stands for a value in JSON: `toJSON` applied, boxed primitives unboxed, a cycle cut. */
function plainValue(raw: unknown, key: string, open: ReadonlySet<object>): unknown {
  if (typeof raw !== 'object' || raw === null) return raw;
  if (open.has(raw)) return null;
  try {
    const value: unknown =
      'toJSON' in raw && typeof raw.toJSON === 'function'
        ? (raw as { toJSON(key: string): unknown }).toJSON(key)
        : raw;
    const boxed =
      value instanceof Number ||
      value instanceof String ||
      value instanceof Boolean ||
      value instanceof BigInt;
    return boxed ? value.valueOf() : value;
  } catch {
    return null;
  }
}

/** `null` for an array that would be far longer as text than what it holds. */
function openFrame(source: object, value: object): Frame | null {
  if (!Array.isArray(value)) {
    const keys = Object.keys(value).sort();
    return { source, value, keys, length: keys.length, next: 0 };
  }
  const { length } = value;
  if (length > MAX_SPARSE_LENGTH && Object.keys(value).length < length) return null;
  return { source, value, keys: null, length, next: 0 };
}

function readKey(container: object, key: string | number): unknown {
  try {
    return (container as Record<string | number, unknown>)[key];
  } catch {
    return null;
  }
}
