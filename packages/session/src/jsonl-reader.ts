import { parseSessionEvent, utf8Length, type SessionEvent } from '@celestea/core';

import type { DamagedLine } from './errors.ts';
import type { FileSystem } from './file-system.ts';

/** One line of a log. */
export type LogLine =
  | { kind: 'row'; row: SessionEvent; end: number; terminated: boolean }
  | { kind: 'damaged'; damage: DamagedLine; terminated: boolean }
  /** The end of a file whose last write was cut off: no line break, and no row. */
  | { kind: 'torn'; offset: number; bytes: number };

/** Small enough that what is made of a chunk does not outlive it. */
const CHUNK_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;

/**
 * Reads the lines of a log from its start up to `size` bytes, a chunk at a time, so that a
 * log of any length is read in little memory. Empty lines are passed over.
 */
export function* readLines(
  fs: FileSystem,
  fd: number,
  size: number,
  chunkBytes: number = CHUNK_BYTES,
): Generator<LogLine> {
  let pending: Uint8Array[] = [];
  let offset = 0;
  let line = 0;
  for (let at = 0; at < size; ) {
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
  const rest = joined(pending);
  const text = decoded(rest);
  if (!isBlank(text)) yield readRest(rest, text, line + 1, offset);
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

/** What stands behind the last line break. */
function readRest(bytes: Uint8Array, text: string | null, line: number, offset: number): LogLine {
  const { length } = bytes;
  const read = readLine(text, length, line, offset, false);
  const isTorn = read.kind === 'damaged' && isCutOff(bytes, text);
  return isTorn ? { kind: 'torn', offset, bytes: length } : read;
}

/** How each row starts that a log writes (C4.4). */
const ROW_START = '{"type":"';

/**
 * Whether a line without its end is what a write leaves that was cut off: the start of a row,
 * with NUL where the disk had no time for the bytes. Anything else was not written by a log,
 * and is not for a log to remove.
 */
function isCutOff(bytes: Uint8Array, text: string | null): boolean {
  const start = String.fromCharCode(...bytes.subarray(0, ROW_START.length));
  if (start === ROW_START) return text === null || !isJson(text);
  const written = start.replace(/\0.*$/s, '');
  const rest = bytes.subarray(written.length);
  return ROW_START.startsWith(written) && rest.every((byte) => byte === 0);
}

/** Part of a row never is: its last brace is missing. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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
