// C0 except newline and tab, DEL, C1; and what reorders or hides in a line. The joiners that
// emoji and some scripts are written with stay.
// eslint-disable-next-line no-control-regex -- these characters are what it is about
const UNSAFE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

const ELLIPSIS = '…';

/**
 * A text that cannot steer a terminal: control characters, and with them every escape
 * sequence, are shown as `\x1b`, bidirectional overrides as `\u202e`, invisible characters too.
 * Newlines and tabs stay.
 */
export function safeText(text: string): string {
  return text.replace(UNSAFE, visible);
}

/** The same on one line, newlines and tabs shown too, and cut after `limit` characters. */
export function safeLine(text: string, limit: number): string {
  const points = Array.from(text.slice(0, 2 * (limit + 1))); // a character is two units at most
  const kept = points.length > limit ? `${points.slice(0, limit).join('')}${ELLIPSIS}` : text;
  return safeText(kept).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** The same between quotes: a path, or a word that was typed. */
export const quoted = (text: string, limit = 400): string => `"${safeLine(text, limit)}"`;

/** JSON text with the same characters escaped, also those that JSON itself leaves raw. */
export function safeJson(json: string): string {
  return json.replace(UNSAFE, (character) => `\\u${hex(character, 4)}`);
}

function visible(character: string): string {
  return character < '\u0100' ? `\\x${hex(character, 2)}` : `\\u${hex(character, 4)}`;
}

const hex = (character: string, digits: number): string =>
  character.charCodeAt(0).toString(16).padStart(digits, '0');

/** A number of bytes for people: `812 B`, `1.2 kB`, `34 MB`. Powers of 1000. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${String(bytes)} B`;
  if (bytes < 999_950) return `${short(bytes / 1000)} kB`;
  return `${short(bytes / 1_000_000)} MB`;
}

/** A time for people, from milliseconds: `12 ms`, `1.2 s`, `2 min 05 s`. */
export function formatDuration(milliseconds: number): string {
  const whole = Math.round(Math.max(0, milliseconds));
  if (whole < 1000) return `${String(whole)} ms`;
  if (whole < 59_950) return `${(whole / 1000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1000);
  return `${String(Math.floor(seconds / 60))} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** A count with its noun: `1 step`, `3 steps`. */
export function formatCount(count: number, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
}

const short = (value: number): string => (value < 99.95 ? value.toFixed(1) : value.toFixed(0));
