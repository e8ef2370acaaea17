import { readdirSync, readFileSync } from 'node:fs';

import { errorCode } from './files/fs-error.ts';

/** Between two looks whether a group is gone: no event tells of it. */
const POLL_MS = 20;

/** Whether children get a process group of their own, which can be ended as a whole. */
export const HAS_GROUPS: boolean = process.platform !== 'win32';

/** Groups that run, and the signal that is to end them. */
const running = new Map<number, NodeJS.Signals>();

/**
 * A group is ended with this process: it is out of reach of the terminal's signals, and
 * nobody would be left to end it. A group is known by the id of its first process.
 */
export function endWithUs(group: number, signal: NodeJS.Signals): void {
  if (running.size === 0) process.on('exit', endAll);
  running.set(group, signal);
}

/** The group is gone, or was given up. */
export function forget(group: number): void {
  running.delete(group);
  if (running.size === 0) process.off('exit', endAll);
}

function endAll(): void {
  for (const [group, signal] of running) signalGroup(group, signal);
}

/** Whether the signal reached a process of the group; without groups, its first process. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(HAS_GROUPS ? -group : group, signal);
  } catch (error) {
    // Somebody else's process (a set-user-id program) is there, and out of reach.
    return errorCode(error) === 'EPERM';
  }
}

/** Whether a process of the group runs. One that ended and was not collected does not. */
function isGroupAlive(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  return process.platform !== 'linux' || (hasRunning(group) ?? true);
}

/**
 * Ends what is left of a group: asks it, waits for up to `graceMs`, then kills it and waits as
 * long once more. Gives the signal that was needed, `null` when nothing was left.
 */
export async function endGroup(
  group: number,
  graceMs: number,
): Promise<'SIGTERM' | 'SIGKILL' | null> {
  if (!isGroupAlive(group)) return null;
  signalGroup(group, 'SIGTERM');
  if (await isGoneWithin(group, graceMs)) return 'SIGTERM';
  signalGroup(group, 'SIGKILL');
  await isGoneWithin(group, graceMs);
  return 'SIGKILL';
}

async function isGoneWithin(group: number, ms: number): Promise<boolean> {
  for (let waited = 0; waited < ms; waited += POLL_MS) {
    if (!isGroupAlive(group)) return true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return !isGroupAlive(group);
}

/** What `/proc` says; `null` where there is none. Only asked when something seems to be left. */
function hasRunning(group: number): boolean | null {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return null;
  }
  return names.some((name) => /^\d+$/.test(name) && isRunningIn(group, name));
}

function isRunningIn(group: number, pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // pid (name) state parent group …; the name may hold anything, brackets too.
    const [state, , owner] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(owner) === group && state !== 'Z' && state !== 'X';
  } catch {
    return false; // it ended between the two looks
  }
}
