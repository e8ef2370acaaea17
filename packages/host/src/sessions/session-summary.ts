import { lstat, open, type FileHandle } from 'node:fs/promises';

import { parseSessionEvent, parseTurnNumber } from '@celestea/core';

import type { WireSession } from '../wire.ts';
import { sessionIdTime } from './session-id.ts';

/** What the folder says of a session. */
export type SessionSummary = Omit<WireSession, 'running'>;

/** So much is read at either end of a file, and no more. */
const END_BYTES = 16 * 1024;
const TITLE_LENGTH = 80;

/**
 * What can be said of a session without reading all of it; `null` when there is no regular file
 * at `path`. One that cannot be read is told of without its words. Never rejects.
 */
export async function readSummary(id: string, path: string): Promise<SessionSummary | null> {
  const stat = await lstat(path).catch(() => null);
  if (stat?.isFile() !== true) return null;
  const { size: bytes, mtimeMs, birthtimeMs } = stat;
  const born = birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs;
  const created_ms = sessionIdTime(id) ?? Math.round(born);
  const known = { id, created_ms, changed_ms: Math.round(mtimeMs), bytes };
  const ends = await readEnds(path, bytes).catch(() => null);
  if (ends === null) return { ...known, title: '' };
  const turns = countTurns(ends.tail) ?? (bytes <= END_BYTES ? 0 : undefined);
  const title = titleOf(firstWords(ends.head));
  return { ...known, title, ...(turns === undefined ? {} : { turns }) };
}

/** Both start and end with whole lines, but for the end of the head. */
interface Ends {
  readonly head: string;
  readonly tail: string;
}

async function readEnds(path: string, bytes: number): Promise<Ends> {
  const file = await open(path, 'r');
  try {
    const head = await readPart(file, 0, END_BYTES);
    if (bytes <= END_BYTES) return { head, tail: head };
    const tail = await readPart(file, bytes - END_BYTES, END_BYTES);
    return { head, tail: tail.slice(tail.indexOf('\n') + 1) };
  } finally {
    await file.close();
  }
}

async function readPart(file: FileHandle, from: number, length: number): Promise<string> {
  const buffer = new Uint8Array(length);
  const { bytesRead } = await file.read(buffer, 0, length, from);
  return new TextDecoder().decode(buffer.subarray(0, bytesRead));
}

/** The text of the first user's message that has one; empty when there is none. */
function firstWords(head: string): string {
  for (const line of head.split('\n')) {
    const parsed = parseSessionEvent(line);
    const text = parsed.ok
      ? parsed.event.type === 'user_message' && parsed.event.text
      : cutOffText(line);
    if (typeof text === 'string' && text.trim() !== '') return text;
  }
  return '';
}

const CUT_OFF = /^\{"type":"user_message","text":"((?:[^"\\]|\\.){0,1000})/;
/** The longest escape of JSON, less one. */
const HALF_ESCAPE = 5;

/** The start of a user's message whose row goes on where the head ends. */
function cutOffText(line: string): string | null {
  const start = CUT_OFF.exec(line)?.[1];
  if (start === undefined) return null;
  for (let cut = 0; cut <= HALF_ESCAPE; cut += 1) {
    try {
      return JSON.parse(`"${start.slice(0, start.length - cut)}"`) as string;
    } catch {
      // it ends within an escape
    }
  }
  return null;
}

/** What is no word in a line: white space, control characters, and those that turn the text round. */
const NO_WORD = /[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu;

function titleOf(text: string): string {
  const line = text.toWellFormed().replace(NO_WORD, ' ').trim();
  if (line.length <= TITLE_LENGTH) return line;
  let title = '';
  for (const character of line) {
    if (title.length + character.length >= TITLE_LENGTH) break;
    title += character;
  }
  return `${title.trimEnd()}…`;
}

const TURN_ROW = /^\{"type":"turn_(?:start|end)","id":"(turn-\d+)"/gm;

/** One more than the number of the last turn; `null` when none is to be seen. */
function countTurns(tail: string): number | null {
  const id = [...tail.matchAll(TURN_ROW)].at(-1)?.[1];
  const number = id === undefined ? null : parseTurnNumber(id);
  return number === null ? null : number + 1;
}
