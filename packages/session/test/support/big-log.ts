/**
 * Writes a long log and opens it, as a process of its own whose heap can be looked at. Prints
 * one JSON line. Arguments: the path, the number of rows, the megabytes.
 */
import { closeSync, openSync, statSync, writeSync } from 'node:fs';

import { serializeSessionEvent, type SessionEvent } from '@celestea/core';

import { JsonlSessionLog } from '../../src/index.ts';

const [path = '', rowText = '', megabytes = ''] = process.argv.slice(2);
const rowCount = Number(rowText);

/** Rows of a turn: a message, four steps with reasoning, a call and its result, a reply. */
const TURN_ROWS = 16;
/** Half of the bytes are reasoning, the rest results. */
const perTurn = (Number(megabytes) * 2 ** 20 * TURN_ROWS) / rowCount;

function turnRows(turn: number): SessionEvent[] {
  const id = `turn-${String(turn)}`;
  const filled = (length: number): string => `${id} `.padEnd(length, 'reasoning is long ');
  const steps = [0, 1, 2, 3].flatMap((step): SessionEvent[] => {
    const call = `${id}-${String(step)}`;
    return [
      { type: 'thinking_delta', text: filled(perTurn / 8) },
      { type: 'tool_call', id: call, name: 'read_file', args: { path: `${call}.txt`, from: step } },
      { type: 'tool_result', id: call, value: { text: filled(perTurn / 8) }, error: null },
    ];
  });
  return [
    { type: 'turn_start', id },
    { type: 'user_message', text: `What about ${id}?` },
    ...steps,
    { type: 'assistant_message', text: `This about ${id}.` },
    { type: 'turn_end', id, outcome: 'completed' },
  ];
}

const fd = openSync(path, 'wx');
for (let turn = 0; turn < rowCount / TURN_ROWS; turn += 1) {
  writeSync(fd, turnRows(turn).map((row) => `${serializeSessionEvent(row)}\n`).join(''));
}
closeSync(fd);

const heapUsed = (): number => {
  globalThis.gc?.();
  globalThis.gc?.(); // waits for the buffers that the first one found, which are freed beside it
  return process.memoryUsage().heapUsed;
};
const before = heapUsed();
const start = performance.now();
const log = await JsonlSessionLog.open(path);
const openMs = Math.round(performance.now() - start);
const heap = heapUsed() - before;
const { external, arrayBuffers } = process.memoryUsage();
const report = {
  rows: log.report.rows,
  bytes: statSync(path).size,
  messages: log.deriveMessages().length,
  nextTurn: log.nextTurnId(),
  collected: globalThis.gc !== undefined,
  heap,
  outside: external + arrayBuffers,
  openMs,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
await log.close();
