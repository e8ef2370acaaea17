import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  effectiveOutcome,
  outcomePhase,
  type SessionEvent,
  type TurnOutcomePhase,
} from '@celestea/core';
import { JsonlSessionLog } from '@celestea/session';

import { assertLogValid } from '../../src/testing/index.ts';

/** What the log of a session holds, and what is wrong with it. */
export interface ReadLog {
  readonly rows: readonly SessionEvent[];
  readonly faults: readonly string[];
}

/**
 * Reads a log without changing it and holds it against the rules of a log. While `isDead` its
 * last turn may be without an end, and its last row torn.
 */
export async function readLog(folder: string, session: string, isDead: boolean): Promise<ReadLog> {
  try {
    const log = await JsonlSessionLog.open(join(folder, `${session}.jsonl`), { readOnly: true });
    const rows = log.events();
    assertLogValid(rows, { openTurn: isDead });
    const { tornBytes } = log.report;
    const isTorn = tornBytes > 0 && !isDead;
    return { rows, faults: isTorn ? [`${session}: ${String(tornBytes)} bytes are torn`] : [] };
  } catch (error) {
    return { rows: [], faults: [`${session}: ${String(error)}`] };
  }
}

/** How each turn ended, in their order. */
export function turnOutcomes(rows: readonly SessionEvent[]): TurnOutcomePhase[] {
  const ends = rows.filter((row) => row.type === 'turn_end');
  return ends.map(({ outcome }) => outcomePhase(effectiveOutcome(outcome)));
}

/** The calls of a log that were answered with a result, and all that were made. */
export function callsOf(rows: readonly SessionEvent[]): { made: Set<string>; done: Set<string> } {
  const made = new Set<string>();
  const done = new Set<string>();
  for (const row of rows) {
    if (row.type === 'tool_call') made.add(row.id);
    if (row.type === 'tool_result' && row.error === null) done.add(row.id);
  }
  return { made, done };
}

/** The runs that the tools wrote down: the call ids of each session, by its index. */
export function readRuns(path: string): Map<number, string[]> {
  const runs = new Map<number, string[]>();
  for (const line of readFileSync(path, 'utf8').split('\n').filter((text) => text !== '')) {
    const [index, call = ''] = line.split(' ');
    const session = runs.get(Number(index)) ?? [];
    session.push(call);
    runs.set(Number(index), session);
  }
  return runs;
}

/** Holds the runs of a session against its log: none without its row, none twice, none missing. */
export function runFaults(
  index: number,
  runs: readonly string[],
  rows: readonly SessionEvent[],
): string[] {
  const { made, done } = callsOf(rows);
  const ran = new Set(runs);
  const twice = runs.filter((call, place) => runs.indexOf(call) !== place);
  const unwritten = [...ran].filter((call) => !made.has(call));
  const missing = [...done].filter((call) => !ran.has(call));
  return [
    ...twice.map((call) => `session ${String(index)}: ${call} ran twice`),
    ...unwritten.map((call) => `session ${String(index)}: ${call} ran and is in no log`),
    ...missing.map((call) => `session ${String(index)}: ${call} has a result and never ran`),
  ];
}
