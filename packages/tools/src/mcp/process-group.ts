import type { ChildProcess } from 'node:child_process';

/** Whether children get a process group of their own, which can be ended as a whole. */
export const HAS_GROUPS: boolean = process.platform !== 'win32';

const live = new Set<ChildProcess>();

/** Signals a child and everything it started that stayed in its group; gone ones are no error. */
export function signalGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (HAS_GROUPS && child.pid !== undefined) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // ESRCH: nothing is left of it.
  }
}

/** A group of its own is out of reach of the terminal's signals: it must not outlive us. */
export function endWithUs(child: ChildProcess): void {
  if (live.size === 0) process.on('exit', endAll);
  live.add(child);
}

/** It is gone by itself. */
export function forget(child: ChildProcess): void {
  live.delete(child);
  if (live.size === 0) process.off('exit', endAll);
}

function endAll(): void {
  for (const child of live) signalGroup(child, 'SIGTERM');
}
