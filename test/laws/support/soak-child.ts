/**
 * Runs turns on one signal and one log, as a process of its own whose heap can be looked at.
 * Prints one JSON line. Arguments: `memory` or the path of a file, and the number of turns.
 */
import { setImmediate } from 'node:timers/promises';

import { assertLogValid } from '@celestea/agent-loop/testing';
import {
  IncrementalProjection,
  parseSessionEvent,
  serializeSessionEvent,
  type SessionEvent,
} from '@celestea/core';
import { InMemorySessionLog, JsonlSessionLog } from '@celestea/session';

import { openDescriptors } from '../../../packages/session/test/support/descriptors.ts';
import type { Control, Look, SoakReport } from './soak-table.ts';
import { Soak } from './soak-turns.ts';

const [path = 'memory', turnsText = '150'] = process.argv.slice(2);
const turns = Number(turnsText);
/** Turns on another log before the first look: code is compiled and caches are warm then. */
const WARM_UP = 200;

async function heapUsed(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    await setImmediate(); // what settled lets go
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}

async function look(ran: number, rows: number, left: number): Promise<Look> {
  const heap = await heapUsed();
  const descriptors = openDescriptors();
  const resources = process.getActiveResourcesInfo().length;
  return { turns: ran, rows, heap, descriptors, resources, left };
}

/** Of their own, as if they were read from somewhere. */
function copied(rows: readonly SessionEvent[]): SessionEvent[] {
  return rows.map((row) => {
    const parsed = parseSessionEvent(serializeSessionEvent(row));
    if (!parsed.ok) throw new Error(parsed.errors.join('; '));
    return parsed.event;
  });
}

/** What the same rows cost in a bare array, and what the model sees of them beside it and alone. */
async function control(rows: readonly SessionEvent[]): Promise<Control> {
  const before = await heapUsed();
  const held = { rows: copied(rows), projection: new IncrementalProjection() };
  const withRows = await heapUsed();
  for (const row of held.rows) held.projection.append(row);
  const withBoth = await heapUsed();
  held.rows = [];
  const withMessages = await heapUsed();
  if (held.projection.messages().length === 0) throw new Error('there is nothing to compare with');
  return {
    rows: withRows - before,
    rowsAndMessages: withBoth - before,
    messages: withMessages - before,
  };
}

const opened = async (name: string): Promise<InMemorySessionLog | JsonlSessionLog> =>
  path === 'memory' ? new InMemorySessionLog() : JsonlSessionLog.open(name);
const closed = async (one: InMemorySessionLog | JsonlSessionLog): Promise<void> => {
  if (one instanceof JsonlSessionLog) await one.close();
};

async function warmUp(): Promise<void> {
  const log = await opened(`${path}.warm`);
  const warm = new Soak(log);
  for (let turn = 0; turn < WARM_UP; turn += 1) await warm.run(turn);
  await control(log.events());
  await closed(log);
}

await warmUp();
const log = await opened(path);
const soak = new Soak(log);
const looks = [await look(0, 0, 0)];
let left = 0;
for (let turn = 0; turn < turns; turn += 1) {
  left = Math.max(left, await soak.run(turn));
  const isMiddle = turn + 1 === Math.floor(turns / 2);
  if (isMiddle || turn + 1 === turns) looks.push(await look(turn + 1, log.events().length, left));
}
const rows = log.events();
assertLogValid(rows);
const report: SoakReport = {
  looks,
  control: await control(rows),
  collected: globalThis.gc !== undefined,
  watched: soak.watched,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
await closed(log);
