import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';

import { runLoad } from './load.ts';
import { renderReport } from './report.ts';
import type { LoadSettings } from './settings.ts';

const USAGE = `Usage: pnpm load [options]

  --turns N     sessions, each with a turn at the same time (500)
  --readers N   of them are followed (as many as turns)
  --stalled N   of the readers stop reading (a tenth)
  --write       write bench/load.md
`;

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '500' },
    readers: { type: 'string' },
    stalled: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** Only a hang takes so long, in milliseconds. */
const LIMIT_MS = 20 * 60_000;

if (values.help) process.stdout.write(USAGE);
else await main();

async function main(): Promise<void> {
  const started = performance.now();
  setTimeout(() => {
    process.stderr.write('it hangs\n');
    process.exit(1); // the other processes end with this one
  }, LIMIT_MS).unref();
  const report = await runLoad(settingsOf(), (line) => {
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${seconds.padStart(6)} s  ${line}\n`);
  });
  const text = renderReport(report);
  process.stdout.write(`\n${text}`);
  const file = join(import.meta.dirname, '../load.md');
  if (values.write && report.isPassed) writeFileSync(file, text);
  if (!report.isPassed) process.exitCode = 1;
}

function settingsOf(): LoadSettings {
  const turns = whole('--turns', values.turns, 1, 10_000);
  const readers = whole('--readers', values.readers ?? String(turns), 1, turns);
  const tenth = String(Math.ceil(readers / 10));
  return {
    turns,
    readers,
    stalled: whole('--stalled', values.stalled ?? tenth, 0, readers),
    compares: true,
    readerProcesses: 2,
    paceMs: 200,
    toolMs: 200,
    steps: 10,
    pieces: 12,
    calls: 3,
    pieceLength: 60,
  };
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  const range = `${String(least)} to ${String(most)}`;
  throw new TypeError(`${name}: expected a whole number from ${range}, got ${text}`);
}
