import { isRecord, readImageRef, type ImageRef } from '@celestea/core';

import { codePointStart, counted } from './text.ts';

/** The bounds of one value. */
const MAX_DEPTH = 200;
const MAX_NODES = 100_000;
const MAX_CHARACTERS = 8 * 2 ** 20;
/** The bound of one text, so that what stands beside it still has room. */
const MAX_TEXT = 2 * 2 ** 20;
/** What is kept free in it for the note that says it was cut. */
const MAX_NOTE = 100;
/** Attachments are kept whatever else has to be left out, up to so many. */
const MAX_ATTACHMENTS = 100;

/**
 * A value that can be logged, shown and sent: plain JSON, well-formed text, at most 200 levels,
 * 100,000 values and 8 Mi characters, of which 2 Mi in one text. What had to be left out is said
 * in its place, in square brackets. A value that is plain JSON already comes back as it is, not as
 * a copy. The images in `attachments` of the value survive. What throws in it is thrown.
 *
 * What becomes of what JSON does not have: `undefined` is left out of an object and `null`
 * elsewhere, as are NaN and infinities; a `bigint` is a number where that is exact, else its
 * digits; a `Map` an object when its keys are text, else a list of pairs; a `Set` a list; an error
 * its name, message and own fields; bytes, functions, symbols and what repeats itself a note.
 */
export function plainValue(value: unknown): unknown {
  const plain = new PlainCopy().of(value, '', MAX_DEPTH) ?? null;
  if (!isRecord(plain) || plain === value) return plain;
  const images = imagesOf(value);
  return imagesOf(plain).length < images.length ? { ...plain, attachments: images } : plain;
}

class PlainCopy {
  #nodes = MAX_NODES;
  #characters = MAX_CHARACTERS;
  readonly #open = new Set<object>();

  /** `undefined` for what is not there in JSON. */
  of(given: unknown, key: string, depth: number): unknown {
    const value = standIn(given, key);
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'number':
        return Number.isFinite(value) ? value : null;
      case 'bigint':
        return Number.isSafeInteger(Number(value)) ? Number(value) : this.#text(String(value));
      case 'symbol':
        return this.#text(`[${String(value)}]`);
      case 'function':
        return this.#text(`[${`function ${value.name}`.trim()}]`);
      case 'object':
        return value === null ? null : this.#object(value, depth);
      default:
        return value; // true, false or undefined
    }
  }

  #text(text: string): string {
    const left = Math.max(Math.min(this.#characters, MAX_TEXT), 0);
    this.#characters -= Math.min(text.length, MAX_TEXT);
    if (text.length <= left) return text.toWellFormed();
    const head = text.slice(0, codePointStart(text, Math.max(left - MAX_NOTE, 0)));
    const omitted = String(text.length - head.length);
    const note = `[${omitted} of ${String(text.length)} characters left out]`;
    return head === '' ? note : `${head.toWellFormed()}… ${note}`;
  }

  #object(value: object, depth: number): unknown {
    if (this.#open.has(value)) return '[circular]';
    if (depth === 0) return `[nested deeper than ${String(MAX_DEPTH)} levels]`;
    this.#open.add(value);
    const copy = this.#container(value, depth - 1);
    this.#open.delete(value);
    return copy;
  }

  #container(value: object, depth: number): unknown {
    if (isBytes(value)) {
      return `[${counted(value.byteLength, 'byte', 'bytes')} of ${value.constructor.name} left out]`;
    }
    if (Array.isArray(value)) return this.#list(value, depth);
    if (ArrayBuffer.isView(value)) return this.#list(value as Float64Array, depth);
    if (value instanceof Set) return this.#list([...value], depth);
    if (value instanceof Map) {
      const pairs = [...value] as [unknown, unknown][];
      const isNamed = pairs.every(([key]) => typeof key === 'string');
      return isNamed ? this.#fields(pairs as [string, unknown][], depth) : this.#list(pairs, depth);
    }
    if (value instanceof Error) {
      const { name, message, cause } = value;
      const errors: unknown = value instanceof AggregateError ? value.errors : undefined;
      const hidden = { name, message, cause, errors };
      return this.#fields(Object.entries(Object.assign(hidden, value)), depth);
    }
    const fields = Object.entries(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype) return this.#fields(fields, depth, value);
    if (fields.length === 0 && prototype !== null) return `[${value.constructor.name}]`;
    return this.#fields(fields, depth);
  }

  /** The very list where it is plain already. */
  #list(items: ArrayLike<unknown>, depth: number): unknown {
    const list: unknown[] = [];
    let isSame = Array.isArray(items);
    for (let index = 0; index < items.length; index += 1) {
      if (this.#isFull()) {
        list.push(`[${counted(items.length - index, 'more item', 'more items')} left out]`);
        return list;
      }
      const item = this.of(items[index], String(index), depth) ?? null;
      list.push(item);
      isSame &&= item === items[index];
    }
    return isSame ? items : list;
  }

  /** What they are the fields of where that is plain already. */
  #fields(fields: readonly [string, unknown][], depth: number, of?: object): unknown {
    const copy: [string, unknown][] = [];
    let isSame = true;
    for (const [index, [name, value]] of fields.entries()) {
      if (this.#isFull()) {
        const left = counted(fields.length - index, 'more field', 'more fields');
        copy.push(['…', `[${left} left out]`]);
        return Object.fromEntries(copy);
      }
      const field = this.of(value, name, depth);
      const key = this.#text(name);
      if (field !== undefined) copy.push([key, field]);
      isSame &&= key === name && field === value && field !== undefined;
    }
    return isSame && of !== undefined ? of : Object.fromEntries(copy); // also of `__proto__`
  }

  #isFull(): boolean {
    this.#nodes -= 1;
    return this.#nodes < 0 || this.#characters < 0;
  }
}

/** What `toJSON` gives, but for bytes; as in JSON, that is not asked again. */
function standIn(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || isBytes(value)) return value;
  if (!('toJSON' in value) || typeof value.toJSON !== 'function') return value;
  return (value as { toJSON(key: string): unknown }).toJSON(key);
}

/** Whether it holds bytes; an array of larger numbers is a list. */
const isBytes = (value: object): value is ArrayBuffer | DataView | Uint8Array =>
  value instanceof ArrayBuffer ||
  value instanceof DataView ||
  (ArrayBuffer.isView(value) && (value as Uint8Array).BYTES_PER_ELEMENT === 1);

/** The images that a value refers to, at most {@link MAX_ATTACHMENTS}. */
function imagesOf(value: unknown): ImageRef[] {
  if (!isRecord(value) || !Array.isArray(value['attachments'])) return [];
  const refs = value['attachments'].slice(0, MAX_ATTACHMENTS).map(readImageRef);
  return refs.filter((ref) => ref !== null);
}
