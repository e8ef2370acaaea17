/**
 * Runs the programs whose paths are its arguments one after the other in this process, which spares
 * the start of one for each, and prints what came of each as a line of JSON. A program is over when
 * nothing keeps its process alive.
 */
import { pathToFileURL } from 'node:url';

import type { Finished } from './run.ts';

const files = process.argv.slice(2);
const tell = process.stdout.write.bind(process.stdout);
const printed = { stdout: '', stderr: '' };
let failed = false;

for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (text: string | Uint8Array): boolean => {
    printed[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
    return true;
  };
}

function fail(thrown: unknown): void {
  failed = true;
  printed.stderr += thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

let running = false;
process.on('beforeExit', () => {
  if (running) {
    const exitCode = failed ? 1 : Number(process.exitCode ?? 0);
    const finished: Finished = { exitCode, ...printed };
    tell(`${JSON.stringify(finished)}\n`);
  }
  [printed.stdout, printed.stderr, failed] = ['', '', false];
  process.exitCode = 0;
  const file = files.shift();
  running = file !== undefined;
  if (file !== undefined) import(pathToFileURL(file).href).catch(fail);
});
