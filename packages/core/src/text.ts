const encoder = new TextEncoder();
/** Written to and never read: only how much of it was written counts. */
const scratch = new Uint8Array(8192);
/** Names and ids are as short as this, and counted here sooner than they are handed over. */
const SHORT = 24;

/** Bytes of a text in UTF-8; a lone surrogate counts as the three of its replacement. */
export function utf8Length(text: string): number {
  let ascii = 0;
  while (ascii < SHORT && text.charCodeAt(ascii) < 0x80) ascii += 1;
  if (ascii === text.length) return ascii;
  let start = 0;
  let bytes = 0;
  do {
    const { read, written } = encoder.encodeInto(start ? text.slice(start) : text, scratch);
    start += read;
    bytes += written;
  } while (start < text.length);
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
  const head = text.slice(0, headEnd(text, headBytes));
  const tail = text.slice(tailStart(text, tailBytes));
  const omittedBytes = totalBytes - utf8Length(head) - utf8Length(tail);
  return { head, tail, totalBytes, omittedBytes };
}

/** The largest end of a head within `bytes` that parts no code point. */
function headEnd(text: string, bytes: number): number {
  let end = 0;
  for (let left = bytes; end < text.length; ) {
    const point = text.codePointAt(end) ?? 0;
    left -= pointBytes(point);
    if (left < 0) break;
    end += point > 0xffff ? 2 : 1;
  }
  return end;
}

/** The smallest start of a tail within `bytes` that parts no code point. */
function tailStart(text: string, bytes: number): number {
  let start = text.length;
  for (let left = bytes; start > 0; ) {
    const isPair = start > 1 && (text.codePointAt(start - 2) ?? 0) > 0xffff;
    const from = start - (isPair ? 2 : 1);
    left -= pointBytes(text.codePointAt(from) ?? 0);
    if (left < 0) break;
    start = from;
  }
  return start;
}

function pointBytes(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x1_0000 ? 3 : 4;
}
