import { readFileSync } from 'node:fs';

import { createAgentLoop } from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  deriveMessagesFrom,
  toolCallIds,
  type Message,
  type ModelRequest,
  type SessionEvent,
  type SessionLog,
} from '@celestea/core';
import {
  JsonlSessionLog,
  SessionLogDamagedError,
  type JsonlSessionLogOptions,
} from '@celestea/session';
import { expect } from 'vitest';

import { fileText } from '../../../packages/session/test/support/rows.ts';
import { assertRequestValid } from '../../support/request-checker.ts';

/** Who wrote a log: its loop alone, or others too, whose rows may be in any order. */
export type Author = 'the loop' | 'anybody';

/** What a file is known to hold after it was cut. */
export interface LeftOver {
  readonly rows: readonly SessionEvent[];
  /** The lines of these rows. */
  readonly text: string;
  /** Bytes of the row that the cut went through. */
  readonly torn: number;
}

/** The turn that is open behind these rows, with the ids of its calls without a result. */
function openTurnOf(rows: readonly SessionEvent[]): { turn: string; calls: string[] } | null {
  const from = rows.findLastIndex(({ type }) => type === 'turn_start' || type === 'turn_end');
  const start = rows[from];
  if (start?.type !== 'turn_start') return null;
  const calls: string[] = [];
  for (const row of rows.slice(from)) {
    if (row.type === 'tool_call' && row.parent_id === undefined) calls.push(row.id);
    if (row.type !== 'tool_result' || row.parent_id !== undefined) continue;
    const answered = calls.indexOf(row.id);
    if (answered >= 0) calls.splice(answered, 1);
  }
  return { turn: start.id, calls };
}

/** The rows that end the turn that was interrupted, as the package documents them. */
function closingRows(rows: readonly SessionEvent[]): SessionEvent[] {
  const open = openTurnOf(rows);
  if (open === null) return [];
  const error = 'the process ended before this call gave a result';
  const answers = open.calls.map(
    (id): SessionEvent => ({ type: 'tool_result', id, value: null, error, abandoned: true }),
  );
  return [...answers, { type: 'turn_end', id: open.turn, outcome: 'interrupted' }];
}

/** Every call is answered once, at once and in order, whatever ids others gave them (C4.6). */
function assertAnswered(messages: readonly Message[]): void {
  let due: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') expect([message.tool_call_id]).toEqual(due.splice(0, 1));
    else {
      expect(due).toEqual([]);
      due = toolCallIds(message);
    }
  }
  expect(due).toEqual([]);
}

function checkRequest(request: ModelRequest, author: Author): void {
  assertAnswered(request.messages);
  if (author === 'anybody') return;
  // A result that spells an escape out, as a surrogate of a tool's value does, is well formed.
  const unescaped = JSON.stringify(request).replaceAll('\\\\u', '/u');
  assertRequestValid(JSON.parse(unescaped) as ModelRequest);
}

const loop = createAgentLoop(defaultAgentConfig({ context_window_tokens: 0 }));

/** A real turn on a log of these rows, by a model that uses an id again; gives all rows. */
async function goOn(
  log: SessionLog,
  before: readonly SessionEvent[],
  author: Author,
): Promise<SessionEvent[]> {
  const called = before.flatMap((row) =>
    row.type === 'tool_call' && row.parent_id === undefined ? [row.id] : [],
  );
  const ids = [called[0] ?? 'a', 'next'];
  const calls = ids.map((id) => ({ id, name: 'echo', args: { 'é😀': id } }));
  const llm = new ScriptedLlm([callTools(...calls), say('Weiter. ✅')]);
  const tools = new FakeToolRegistry({ echo: (args) => args });
  expect(await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go on')).toBe('completed');
  expect(llm.requests).toHaveLength(2);
  for (const request of llm.requests) checkRequest(request, author);
  expect(tools.dispatched.map(({ args }) => args)).toEqual(calls.map(({ args }) => args));
  const ran = tools.dispatched.map(({ call_id }) => call_id);
  expect(called.filter((id) => ran.includes(id)), 'no call is run again').toEqual([]);
  const rows = log.events();
  expect(rows.slice(0, before.length)).toEqual(before);
  const start = rows[before.length];
  if (start?.type !== 'turn_start') throw new Error('the turn does not start behind the rows');
  const turns = before.flatMap((row) =>
    row.type === 'turn_start' || row.type === 'turn_end' ? [row.id] : [],
  );
  expect(turns, 'no turn id comes twice').not.toContain(start.id);
  return rows;
}

const projects = (log: SessionLog, rows: readonly SessionEvent[]): void => {
  expect(log.deriveMessages()).toEqual(deriveMessagesFrom(rows));
};

/** Opens, lets `use` look and write, and closes on every path. */
async function withLog<T>(
  path: string,
  options: JsonlSessionLogOptions,
  use: (log: JsonlSessionLog) => T | Promise<T>,
): Promise<T> {
  const log = await JsonlSessionLog.open(path, options);
  try {
    return await use(log);
  } finally {
    await log.close();
  }
}

/** A file that was cut off: opened, gone on with, opened again. Gives the rows it has then. */
export async function assertRecovers(
  path: string,
  left: LeftOver,
  author: Author,
): Promise<SessionEvent[]> {
  const closing = closingRows(left.rows);
  const closed = [...left.rows, ...closing];
  const clean = { tornBytes: 0, skipped: [], interruptedTurn: null };
  const rows = await withLog(path, {}, async (log) => {
    expect(log.report).toEqual({
      rows: left.rows.length,
      tornBytes: left.torn,
      skipped: [],
      interruptedTurn: openTurnOf(left.rows)?.turn ?? null,
    });
    expect(readFileSync(path, 'utf8')).toBe(left.text + fileText(closing));
    expect(log.events()).toEqual(closed);
    projects(log, closed);
    const all = await goOn(log, closed, author);
    projects(log, all);
    return all;
  });
  const text = readFileSync(path, 'utf8');
  expect(text).toBe(left.text + fileText(rows.slice(left.rows.length)));
  if (author === 'the loop') assertLogValid(rows);
  await withLog(path, {}, (log) => {
    expect(log.report).toEqual({ rows: rows.length, ...clean });
    expect(log.events()).toEqual(rows);
    projects(log, rows);
  });
  expect(readFileSync(path, 'utf8')).toBe(text);
  return rows;
}

/** Whether all of the rows are among the others, in their order. */
function hasInOrder(rows: readonly SessionEvent[], wanted: readonly SessionEvent[]): boolean {
  const left = wanted.map((row) => fileText([row]));
  for (const row of rows) if (fileText([row]) === left[0]) left.shift();
  return left.length === 0;
}

/** What opening a file with changed bytes came to, and the rows that were read. */
export interface Opening {
  readonly refused: boolean;
  readonly rows: readonly SessionEvent[];
}

/**
 * A file whose bytes were changed: refused with nothing changed, or opened; and always read
 * around. Either way the rows that are `intact` are read, in their order.
 */
export async function assertReported(
  path: string,
  intact: readonly SessionEvent[],
): Promise<Opening> {
  const bytes = readFileSync(path);
  const unchanged = (): void => {
    expect(readFileSync(path).equals(bytes)).toBe(true);
  };
  const skip = { onDamage: 'skip' } as const;
  const [found, read] = await withLog(path, { ...skip, readOnly: true }, (log) => {
    const rows = log.events();
    projects(log, rows);
    return [log.report, rows] as const;
  });
  expect(hasInOrder(read, intact), 'intact rows are read').toBe(true);
  unchanged();
  const [damage] = found.skipped;
  if (damage !== undefined) {
    const refused: unknown = await JsonlSessionLog.open(path).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SessionLogDamagedError);
    expect(refused).toMatchObject({ damage });
    unchanged();
  }
  const rows = await withLog(path, damage === undefined ? {} : skip, async (log) => {
    expect(log.report).toEqual(found);
    const all = await goOn(log, [...read, ...closingRows(read)], 'anybody');
    projects(log, all);
    return all;
  });
  const kept = bytes.subarray(0, bytes.length - found.tornBytes);
  const now = readFileSync(path).subarray(0, kept.length);
  expect(now.equals(kept), 'only a torn end goes').toBe(true);
  await withLog(path, skip, (log) => {
    const clean = { tornBytes: 0, interruptedTurn: null };
    expect(log.report).toEqual({ ...found, ...clean, rows: rows.length });
    expect(log.events()).toEqual(rows);
    projects(log, rows);
  });
  return { refused: damage !== undefined, rows: read };
}
