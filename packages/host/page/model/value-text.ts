import { countWords } from './words.ts';

/** A value as JSON text. */
export interface ValueText {
  readonly text: string;
  /** Whether all of the value stands there. */
  readonly isWhole: boolean;
}

/** What is nested deeper is not written. */
export const MAX_DEPTH = 100;
/** What is longer is not written, in UTF-16 units. */
const MAX_LENGTH = 1_000_000;

const TOO_DEEP = `[… deeper than ${String(MAX_DEPTH)} levels …]`;

interface Writing {
  readonly indent: string;
  readonly maxLength: number;
  readonly pieces: string[];
  length: number;
  isDeep: boolean;
}

/**
 * Writes a value as `JSON.stringify(value, null, indent)` does, within bounds that no value breaks;
 * what is left out is said in its place.
 */
export function writeValue(value: unknown, indent = '  ', maxLength = MAX_LENGTH): ValueText {
  const writing: Writing = { indent, maxLength, pieces: [], length: 0, isDeep: false };
  write(writing, value, 0);
  const text = writing.pieces.join('');
  if (writing.length <= maxLength) return { text, isWhole: !writing.isDeep };
  const rest = `\n[… longer than ${countWords(maxLength)} characters, the rest is left out …]`;
  return { text: text.slice(0, maxLength) + rest, isWhole: false };
}

function write(writing: Writing, value: unknown, depth: number): void {
  if (isFull(writing)) return;
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    writeAll(writing, ['[', ']'], items.length, depth, function* () {
      for (const item of items) yield ['', item];
    });
  } else if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    const colon = writing.indent === '' ? ':' : ': ';
    writeAll(writing, ['{', '}'], entries.length, depth, function* () {
      for (const [name, field] of entries) yield [scalarText(name, writing) + colon, field];
    });
  } else {
    put(writing, scalarText(value, writing));
  }
}

function writeAll(
  writing: Writing,
  [open, close]: readonly [string, string],
  count: number,
  depth: number,
  items: () => Iterable<readonly [string, unknown]>,
): void {
  if (count === 0 || depth >= MAX_DEPTH) {
    writing.isDeep ||= count > 0;
    put(writing, count === 0 ? open + close : TOO_DEEP);
    return;
  }
  const line = (level: number): string =>
    writing.indent === '' ? '' : `\n${writing.indent.repeat(level)}`;
  let before = open;
  for (const [name, item] of items()) {
    if (isFull(writing)) return;
    put(writing, before + line(depth + 1) + name);
    write(writing, item, depth + 1);
    before = ',';
  }
  put(writing, line(depth) + close);
}

function scalarText(value: unknown, { maxLength }: Writing): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, maxLength + 1));
  return value === null || typeof value === 'number' || typeof value === 'boolean'
    ? JSON.stringify(value)
    : 'null';
}

function put(writing: Writing, text: string): void {
  writing.pieces.push(text);
  writing.length += text.length;
}

const isFull = ({ length, maxLength }: Writing): boolean => length > maxLength;
