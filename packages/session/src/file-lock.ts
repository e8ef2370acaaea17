import { linkSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';

import { SessionLogInUseError, type LockHolder } from './errors.ts';
import { prepareFile, removeFile } from './prepared-file.ts';

/** What a lock file says of the process that made it. */
interface LockContent extends LockHolder {
  /** Tells this lock from every other. */
  readonly token: string;
  /** When the process started, where the platform says so: a process id may be used again. */
  readonly started: string | null;
}

/** What stands where a lock would be. */
type LockState =
  { kind: 'none' } | { kind: 'lock'; content: LockContent } | { kind: 'unreadable' };

/** How often a lock that changes hands meanwhile is tried for again. */
const MAX_ATTEMPTS = 8;

/** A dead process's lock is taken over under a lock of its own, which may be a dead one's too. */
const MAX_TAKEOVERS = 3;

/**
 * Makes this process the one writer of `path`, and gives back what ends that. The lock file
 * appears with its content in one step, and one left by a dead process is taken over by
 * exactly one other. A lock file that nobody can read was not left by a crash, for it is
 * durable before it has its name; it is left alone.
 *
 * @throws SessionLogInUseError when a living process, this one included, holds it
 */
export function lockFile(path: string): () => void {
  const lockPath = `${path}.lock`;
  const { token } = acquire(path, lockPath, MAX_TAKEOVERS);
  return () => {
    const state = readLock(lockPath);
    if (state.kind === 'lock' && state.content.token === token) removeFile(lockPath);
  };
}

/** Whether somebody writes a log; `holder` is `null` when its lock file cannot be read. */
export type LogHolding =
  { readonly held: false } | { readonly held: true; readonly holder: LockHolder | null };

/**
 * Asks who writes the log at `path`, without changing anything. A dead process holds nothing.
 * Throws when the folder of the log is not there.
 */
export function sessionLogHolder(path: string): LogHolding {
  const state = readLock(`${realPath(path)}.lock`);
  if (state.kind === 'none') return { held: false };
  if (state.kind === 'unreadable') return { held: true, holder: null };
  const { pid, host, since } = state.content;
  return isAlive(state.content) ? { held: true, holder: { pid, host, since } } : { held: false };
}

/** One file has one lock, by whichever of its names it is opened. Its folder has to be there. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return join(realpathSync(dirname(path)), basename(path)); // a new file
  }
}

function acquire(path: string, lockPath: string, takeovers: number): LockContent {
  const own = ownContent();
  const fill = (fd: number): void => {
    writeFileSync(fd, JSON.stringify(own));
  };
  return prepareFile(lockPath, fill, (prepared) => {
    let holder: LockHolder | null = null;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      if (linked(prepared, lockPath)) return own;
      const state = readLock(lockPath);
      if (state.kind === 'none') continue; // it was released meanwhile
      holder = state.kind === 'lock' ? state.content : null;
      if (state.kind === 'unreadable' || isAlive(state.content) || takeovers === 0) break;
      if (tookOver(path, lockPath, prepared, state.content.token, takeovers)) return own;
    }
    throw new SessionLogInUseError(path, lockPath, holder);
  });
}

/**
 * Whoever wants to replace this very lock has to hold its guard, so that a newer lock that
 * took its place meanwhile is never replaced. `false` when there is a newer one.
 */
function tookOver(
  path: string,
  lockPath: string,
  prepared: string,
  token: string,
  takeovers: number,
): boolean {
  const guard = `${lockPath}.${token}.guard`;
  acquire(path, guard, takeovers - 1);
  try {
    const current = readLock(lockPath);
    if (current.kind !== 'lock' || current.content.token !== token) return false;
    renameSync(prepared, lockPath);
    return true;
  } finally {
    removeFile(guard);
  }
}

/** `false` when there is a lock already. */
function linked(prepared: string, lockPath: string): boolean {
  try {
    linkSync(prepared, lockPath);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function ownContent(): LockContent {
  return {
    token: globalThis.crypto.randomUUID(),
    pid: process.pid,
    host: hostname(),
    since: new Date().toISOString(),
    started: processState(process.pid)?.started ?? null,
  };
}

function readLock(lockPath: string): LockState {
  let content: Record<string, unknown> | null;
  try {
    content = JSON.parse(readFileSync(lockPath, 'utf8')) as typeof content;
  } catch (error) {
    return { kind: errorCode(error) === 'ENOENT' ? 'none' : 'unreadable' };
  }
  const { token, pid, host, since, started } = content ?? {};
  if (
    typeof token !== 'string' ||
    !/^[\w-]+$/.test(token) || // it becomes part of a file's name
    typeof pid !== 'number' ||
    typeof host !== 'string' ||
    typeof since !== 'string' ||
    (typeof started !== 'string' && started !== null)
  ) {
    return { kind: 'unreadable' };
  }
  return { kind: 'lock', content: { token, pid, host, since, started } };
}

/** Whether the process that made a lock still runs; one on another host counts as running. */
function isAlive({ pid, host, started }: LockContent): boolean {
  if (host !== hostname()) return true;
  const state = processState(pid);
  if (state !== null && started !== null) return state.runs && state.started === started;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

/**
 * Boot and start time of a process, which no other process shares, and whether it runs: one
 * that was killed keeps its id until its parent takes note. `null` off Linux, and for none.
 */
function processState(pid: number): { started: string; runs: boolean } | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // The name in parentheses may hold spaces; the state comes next, the start time 19 after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, start] = [fields[0], fields[19]];
    if (state === undefined || start === undefined) return null;
    return { started: `${boot}/${start}`, runs: state !== 'Z' && state !== 'X' };
  } catch {
    return null;
  }
}

const errorCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
