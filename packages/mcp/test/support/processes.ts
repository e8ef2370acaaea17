import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { atEnd } from './at-end.ts';
import { until } from './use.ts';

/** Whether a process runs; one that is dead and waits for its parent to look does not. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}

/** Resolves when a process does not run any more. */
export const gone = (pid: number): Promise<void> => until(() => !runs(pid));

/** A fresh folder that is gone after the test. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'celestea-mcp-'));
  atEnd(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
