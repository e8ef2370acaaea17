import { parseSessionEvent, utf8Length, type SessionEvent } from '@celestea/core';

import type { DamagedLine } from './errors.ts';
import type { FileSystem } from './file-system.ts';
import { isTornRow } from './torn-row.ts';

/** One line of a log. */
export type LogLine =
  | { kind: 'row'; row: SessionEvent; end: number; terminated: boolean }
  | { kind: 'damaged'; damage: DamagedLine; terminated: boolean }
  /**
   * The end of a file whose last write was cut off: the start of a row, or NUL behind whatever
   * stands before.
   */
  | { kind: 'torn'; offset: number; bytes: number };

/** Small enough that what is made of a chunk does not outlive it. */
const CHUNK_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Reads the lines of a log from its start up to `size` bytes, a chunk at a time, so that a
 * log of any length is read in little memory. Empty lines and a byte order mark at the start are
 * passed over.
 */
export function* readLines(
  fs: FileSystem,
  fd: number,
  size: number,
  chunkBytes: number = CHUNK_BYTES,
): Generator<LogLine> {
  let pending: Uint8Array[] = [];
  let offset = markLength(fs, fd);
  let line = 0;
  for (let at = offset; at < size; ) {
    const buffer = new Uint8Array(Math.min(chunkBytes, size - at));
    const read = fs.readSync(fd, buffer, 0, buffer.length, at);
    if (read === 0) break; // cut shorter meanwhile
    at += read;
    const chunk = buffer.subarray(0, read);
    const end = chunk.lastIndexOf(LINE_FEED);
    if (end < 0) {
      pending.push(chunk);
      continue;
    }
    pending.push(chunk.subarray(0, end));
    const block = joined(pending);
    const whole = decoded(block);
    const isAscii = whole?.length === block.length;
    for (const raw of whole?.split('\n') ?? splitBytes(block)) {
      line += 1;
      const text = typeof raw === 'string' ? raw : decoded(raw);
      const bytes = isAscii || typeof raw !== 'string' ? raw.length : utf8Length(raw);
      if (!isBlank(text)) yield readLine(text, bytes, line, offset, true);
      offset += bytes + 1;
    }
    pending = [chunk.subarray(end + 1)];
  }
  yield* readRest(joined(pending), line + 1, offset);
}

/** How long the byte order mark is that an editor may have put at the start. */
function markLength(fs: FileSystem, fd: number): number {
  const start = new Uint8Array(BYTE_ORDER_MARK.length);
  for (let at = 0; at < start.length; ) {
    const read = fs.readSync(fd, start, at, start.length - at, at);
    if (read === 0) break;
    at += read;
  }
  return BYTE_ORDER_MARK.every((byte, at) => byte === start[at]) ? start.length : 0;
}

/** The lines of a block that is not all UTF-8. Decoding each by itself is slow. */
function splitBytes(block: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let from = 0; from <= block.length; ) {
    const end = block.indexOf(LINE_FEED, from);
    const bytes = block.subarray(from, end < 0 ? block.length : end);
    lines.push(bytes);
    from += bytes.length + 1;
  }
  return lines;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Spaces, tabs and the carriage return of a line that an editor ended with CR LF. */
const isBlank = (text: string | null): boolean =>
  text?.startsWith('{') === false && /^[ \t\r]*$/.test(text);

function readLine(
  text: string | null,
  bytes: number,
  line: number,
  offset: number,
  terminated: boolean,
): LogLine {
  const parsed = text === null ? NOT_UTF8 : parseSessionEvent(text);
  if (parsed.ok) {
    return { kind: 'row', row: parsed.event, end: offset + bytes + Number(terminated), terminated };
  }
  const reason = parsed.errors.join('; ');
  return { kind: 'damaged', damage: { line, offset, bytes, reason }, terminated };
}

/** What stands behind the last line break. NUL is where the disk had no time for the bytes. */
function* readRest(bytes: Uint8Array, line: number, offset: number): Generator<LogLine> {
  const written = bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1);
  const zeros = bytes.length - written.length;
  const text = decoded(written);
  if (!isBlank(text)) {
    const read = readLine(text, bytes.length, line, offset, false);
    if (read.kind !== 'row') {
      yield isTornRow(written) ? { kind: 'torn', offset, bytes: bytes.length } : read;
      return;
    }
    yield { ...read, end: offset + written.length };
  }
  if (zeros > 0) yield { kind: 'torn', offset: offset + written.length, bytes: zeros };
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

const NOT_UTF8 = { ok: false, errors: ['not UTF-8'] } as const;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
