import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The processes of a group that run: not those that ended and were not collected by init. */
export function livingIn(group: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
        const [state, , owner] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return Number(owner) === group && state !== 'Z' && state !== 'X';
      } catch {
        return false;
      }
    });
}

/** Waits for a condition without a clock: it looks again in each round of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** A named pipe in a folder; its reader waits for a process to write into it. */
export function makePipe(folder: string, name: string): () => Promise<string> {
  const path = join(folder, name);
  execFileSync('mkfifo', [path], { stdio: 'ignore' });
  return async () => (await readFile(path, 'utf8')).trim();
}
