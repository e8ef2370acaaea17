const encoder = new TextEncoder();
/** Written to and never read: only how much of it was written counts. */
const scratch = new Uint8Array(8192);
/** Names and ids are as short as this, and counted here sooner than they are handed over. */
const SHORT = 24;

/** Bytes of a text in UTF-8; a lone surrogate counts as the three of its replacement. */
export function utf8Length(text: string): number {
  const { length } = text;
  let start = 0;
  if (length < SHORT) while (text.charCodeAt(start) < 0x80) start += 1;
  if (start === length) return start;
  start = 0;
  let bytes = 0;
  do {
    const { read, written } = encoder.encodeInto(start ? text.slice(start) : text, scratch);
    start += read;
    bytes += written;
  } while (start < length);
  return bytes;
}

/** A text without its middle. Head and tail are whole code points. */
export interface CutText {
  readonly head: string;
  readonly tail: string;
  /** UTF-8 bytes of the whole text. */
  readonly totalBytes: number;
  /** UTF-8 bytes of the middle. */
  readonly omittedBytes: number;
}

/**
 * Keeps at most `headBytes` at the start and `tailBytes` at the end of a text, in UTF-8
 * bytes; `null` when that is all of it.
 */
export function cutMiddle(text: string, headBytes: number, tailBytes: number): CutText | null {
  const totalBytes = utf8Length(text);
  if (totalBytes <= headBytes + tailBytes) return null;
  const start = fitting(text, headBytes);
  const before = totalBytes - Math.max(0, Math.floor(tailBytes));
  const { read, written } = fitting(text, before);
  // a code point that the cut would part is not in the tail
  const parted = written < before ? String.fromCodePoint(text.codePointAt(read) ?? 0).length : 0;
  const tail = text.slice(read + parted);
  const omittedBytes = totalBytes - start.written - utf8Length(tail);
  return { head: text.slice(0, start.read), tail, totalBytes, omittedBytes };
}

/** How much of a text fits into so many bytes, cut between code points: UTF-16 units and bytes. */
const fitting = (text: string, bytes: number): { read: number; written: number } =>
  encoder.encodeInto(text, new Uint8Array(Math.max(0, bytes)));
