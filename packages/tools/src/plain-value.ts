import { readImageRef, type ImageRef } from '@celestea/core';

import { isRecord } from './shape.ts';
import { codePointStart, counted, cutText } from './text.ts';

/** The bounds of one value. */
const MAX_DEPTH = 200;
const MAX_NODES = 100_000;
const MAX_CHARACTERS = 8 * 2 ** 20;
/** The bound of one text, so that what stands beside it still has room. */
const MAX_TEXT = 2 * 2 ** 20;
/** What is kept free in it for the note that says it was cut. */
const MAX_NOTE = 100;
/** How much of a name, of a key or a class, is shown. */
const MAX_NAME = 200;
/** Attachments are kept whatever else has to be left out, up to so many. */
const MAX_ATTACHMENTS = 100;

/**
 * A value that can be logged, shown and sent: plain JSON, well-formed text, at most 200 levels,
 * 100,000 values and 8 Mi characters, of which 2 Mi in one text. What had to be left out is said
 * in its place, in square brackets. A small value that is plain JSON already comes back as it is, not as a copy.
 *
 * It never throws, whatever getters, proxies and `toJSON` it meets, and its work is bounded (but
 * for the keys of one object, which JavaScript only gives all together). The images in
 * `attachments` of the value survive.
 *
 * What becomes of what JSON does not have: `undefined` is left out of an object and `null`
 * elsewhere, as are NaN and infinities; a `bigint` is a number where that is exact, else its
 * digits; a `Date` its ISO text; a `Map` an object when its keys are text, else a list of pairs;
 * a `Set` and an array of numbers a list; an error its name, message and own fields; bytes,
 * functions, symbols and what repeats itself a note.
 */
export function plainValue(value: unknown): unknown {
  try {
    if (isPlain(value, { nodes: MAX_NODES, characters: MAX_CHARACTERS }, MAX_DEPTH)) return value;
    return new PlainCopy().root(value);
  } catch {
    return UNREADABLE; // the stack was nearly full before we began
  }
}

/** A text without half characters. */
export function wellFormed(text: string): string {
  return HALF.test(text) ? text.replace(HALVES, '\ufffd') : text;
}

const HALF = /\p{Surrogate}/u; // with the flag, a whole pair is no surrogate
const HALVES = /\p{Surrogate}/gu;
const UNREADABLE = '[unreadable]';

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null;

/** What is left of the bounds. */
interface Room {
  nodes: number;
  characters: number;
}

/** Whether a value is within its bounds and nothing but JSON, all of it its own data. */
function isPlain(value: unknown, room: Room, depth: number): boolean {
  room.nodes -= 1;
  if (room.nodes < 0) return false;
  switch (typeof value) {
    case 'string':
      return isPlainText(value, room);
    case 'number':
      return Number.isFinite(value);
    case 'boolean':
      return true;
    case 'object':
      return value === null || (depth > 0 && isPlainContainer(value, room, depth - 1));
    default:
      return false;
  }
}

function isPlainText(text: string, room: Room): boolean {
  room.characters -= text.length;
  return text.length <= MAX_TEXT && room.characters >= 0 && !HALF.test(text);
}

/** A cycle is deeper than any bound. */
function isPlainContainer(value: object, room: Room, depth: number): boolean {
  try {
    const isList = Array.isArray(value);
    if (isList && value.length > room.nodes) return false;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== (isList ? Array.prototype : Object.prototype)) return false;
    if ('toJSON' in value && typeof value.toJSON === 'function') return false;
    const keys = Object.keys(value);
    if (isList && keys.length !== value.length) return false; // holes, or fields of its own
    return keys.every((key) => {
      const field = Object.getOwnPropertyDescriptor(value, key);
      if (field === undefined || !('value' in field)) return false;
      // A proxy may answer a look at the value otherwise than one at the field.
      if (!Object.is((value as Record<string, unknown>)[key], field.value)) return false;
      return (isList || isPlainText(key, room)) && isPlain(field.value, room, depth);
    });
  } catch {
    return false;
  }
}

/** What becomes of a field that is not there for JSON. */
const NOTHING = Symbol('nothing');

class PlainCopy {
  readonly #room: Room = { nodes: MAX_NODES, characters: MAX_CHARACTERS };
  readonly #open = new Set<object>();

  root(value: unknown): unknown {
    const images = imagesOf(value);
    const copy = this.#copy(value, '', MAX_DEPTH);
    if (copy === NOTHING) return null;
    if (isRecord(copy) && imagesOf(copy).length < images.length) {
      define(copy, 'attachments', plainValue(images)); // there was no room left for them
    }
    return copy;
  }

  #copy(value: unknown, key: string, depth: number): unknown {
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'number':
        return Number.isFinite(value) ? value : null;
      case 'boolean':
        return value;
      case 'undefined':
        return NOTHING;
      case 'bigint':
        return this.#bigint(value);
      case 'symbol':
        return `[${cutText(String(value), MAX_NAME)}]`;
      case 'function':
        return `[function${named(() => value.name)}]`;
      default:
        return isObject(value) ? this.#safely(() => this.#object(value, key, depth)) : null;
    }
  }

  #safely(read: () => unknown): unknown {
    try {
      return read();
    } catch {
      return UNREADABLE;
    }
  }

  #text(text: string): string {
    const left = Math.max(Math.min(this.#room.characters, MAX_TEXT), 0);
    this.#room.characters -= Math.min(text.length, MAX_TEXT);
    if (text.length <= left) return wellFormed(text);
    const head = text.slice(0, codePointStart(text, Math.max(left - MAX_NOTE, 0)));
    const omitted = String(text.length - head.length);
    const note = `[${omitted} of ${String(text.length)} characters left out]`;
    return head === '' ? note : `${wellFormed(head)}… ${note}`;
  }

  #bigint(value: bigint): unknown {
    const number = Number(value);
    if (Number.isSafeInteger(number)) return number;
    // One of a million digits takes seconds to write.
    const isHuge = BigInt.asIntN(4_096, value) !== value;
    return isHuge ? '[bigint of over 4096 bits]' : this.#text(value.toString());
  }

  #object(value: object, key: string, depth: number): unknown {
    if (this.#open.has(value)) return '[circular]';
    if (depth === 0) return `[nested deeper than ${String(MAX_DEPTH)} levels]`;
    this.#open.add(value);
    try {
      return this.#container(value, key, depth - 1);
    } finally {
      this.#open.delete(value);
    }
  }

  #container(value: object, key: string, depth: number): unknown {
    if (Array.isArray(value)) return this.#list(value.length, (index) => value[index], depth);
    const bytes = byteLength(value);
    if (bytes !== null) return `[${counted(bytes, 'byte', 'bytes')} of ${className(value)} left out]`;
    if (ArrayBuffer.isView(value)) {
      const numbers = value as Float64Array;
      return this.#list(numbers.length, (index) => numbers[index], depth);
    }
    if (value instanceof Date) {
      const time = Date.prototype.getTime.call(value); // not what a subclass makes of it
      return Number.isNaN(time) ? '[invalid date]' : new Date(time).toISOString();
    }
    if (value instanceof RegExp) return this.#text(String(value));
    if (value instanceof Set) return this.#iterated(value.values(), value.size, depth);
    if (value instanceof Map) return this.#map(value, depth);
    const stand = standIn(value, key);
    if (stand !== value) {
      // As in JSON, what `toJSON` gives is not asked again.
      if (typeof stand !== 'object' || stand === null) return this.#copy(stand, key, depth);
      if (Array.isArray(stand)) return this.#object(stand, key, depth);
      if (this.#open.has(stand)) return '[circular]';
      return this.#record(stand, [], depth);
    }
    const own = value instanceof Error ? ['name', 'message', 'cause', 'errors'] : [];
    return this.#record(value, own, depth);
  }

  #map(value: Map<unknown, unknown>, depth: number): unknown {
    for (const key of value.keys()) {
      if (typeof key !== 'string') return this.#iterated(value.entries(), value.size, depth);
    }
    return this.#fields([...value.keys()].map(String), (key) => value.get(key), depth);
  }

  #iterated(items: Iterator<unknown>, size: number, depth: number): unknown {
    return this.#list(size, () => items.next().value as unknown, depth);
  }

  #list(length: unknown, read: (index: number) => unknown, depth: number): unknown {
    if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0) {
      return UNREADABLE; // a proxy may answer anything
    }
    const list: unknown[] = [];
    for (let index = 0; index < length; index += 1) {
      if (this.#isFull()) {
        list.push(`[${counted(length - index, 'more item', 'more items')} left out]`);
        break;
      }
      const item = this.#safely(() => this.#copy(read(index), String(index), depth));
      list.push(item === NOTHING ? null : item);
    }
    return list;
  }

  /** The own fields, and of the named ones those that are inherited or hidden. */
  #record(value: object, named: readonly string[], depth: number): unknown {
    const fields = value as Record<string, unknown>;
    const own = Object.keys(value);
    const more = named.filter((key) => key in value && !own.includes(key));
    const keys = [...more, ...own];
    const prototype: unknown = Object.getPrototypeOf(value);
    const isAnonymous = prototype === null || prototype === Object.prototype;
    if (keys.length === 0 && !isAnonymous) return `[${className(value)}]`;
    return this.#fields(keys, (key) => fields[key], depth);
  }

  #fields(keys: readonly string[], read: (key: string) => unknown, depth: number): unknown {
    const copy: Record<string, unknown> = {};
    for (const [index, key] of keys.entries()) {
      if (this.#isFull()) {
        const left = counted(keys.length - index, 'more field', 'more fields');
        define(copy, '…', `[${left} left out]`);
        break;
      }
      const field = this.#safely(() => this.#copy(read(key), key, depth));
      if (field !== NOTHING) define(copy, this.#text(key), field);
    }
    return copy;
  }

  #isFull(): boolean {
    this.#room.nodes -= 1;
    return this.#room.nodes < 0 || this.#room.characters < 0;
  }
}

/** Also for `__proto__`, which is a name like any other. */
function define(target: object, key: string, value: unknown): void {
  const field = { value, enumerable: true, writable: true, configurable: true };
  Object.defineProperty(target, key, field);
}

/** What `toJSON` gives, and what a boxed primitive holds. */
function standIn(value: object, key: string): unknown {
  if (
    value instanceof Number ||
    value instanceof String ||
    value instanceof Boolean ||
    value instanceof BigInt ||
    value instanceof Symbol
  ) {
    return value.valueOf();
  }
  if (!('toJSON' in value) || typeof value.toJSON !== 'function') return value;
  return (value as { toJSON(key: string): unknown }).toJSON(key);
}

/** The size of what holds bytes; `null` for anything else, arrays of numbers included. */
function byteLength(value: object): number | null {
  const isBytes =
    value instanceof ArrayBuffer ||
    (typeof SharedArrayBuffer === 'function' && value instanceof SharedArrayBuffer) ||
    value instanceof DataView ||
    value instanceof Uint8Array ||
    value instanceof Uint8ClampedArray ||
    value instanceof Int8Array;
  return isBytes ? value.byteLength : null;
}

function className(value: object): string {
  return named(() => value.constructor.name).trim() || 'an object';
}

function named(read: () => unknown): string {
  try {
    const name = read();
    return typeof name === 'string' && name !== '' ? ` ${wellFormed(cutText(name, MAX_NAME))}` : '';
  } catch {
    return '';
  }
}

/** The images that a value refers to, at most {@link MAX_ATTACHMENTS}. */
function imagesOf(value: unknown): ImageRef[] {
  try {
    if (!isRecord(value) || !Array.isArray(value['attachments'])) return [];
    const refs = value['attachments'].slice(0, MAX_ATTACHMENTS).map(readImageRef);
    return refs.filter((ref) => ref !== null);
  } catch {
    return [];
  }
}
