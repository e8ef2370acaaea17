import { spawn } from 'node:child_process';

import { errorCode, quotePath } from '../files/fs-error.ts';
import { endGroup, endWithUs, forget } from '../process-group.ts';
import { within } from '../within.ts';
import { OutputWindow } from './output-window.ts';

/** How many bytes are kept of each of the two outputs. */
const KEPT_BYTES = 65_536;

/** One process to run. */
export interface ProcessRequest {
  /** What is run, and its arguments. No shell looks at any of it. */
  file: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** How many milliseconds it may take. */
  timeoutMs: number;
  /** How many milliseconds it is waited for what was asked to end. */
  graceMs: number;
  signal: AbortSignal | undefined;
}

/** How it went. */
export interface ProcessEnd {
  /** `null` when a signal ended it, or it could not be ended. */
  exitCode: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
  /** What it was ended for, or `null` when it ended by itself. */
  endedFor: 'timeout' | 'cancel' | null;
  /** Whether something it had started was still running, and was ended. */
  hadLeftovers: boolean;
  /** Whether all is gone that could write to the outputs. */
  isOver: boolean;
}

/**
 * Runs a process in a group of its own, with nothing on its stdin, and resolves when it and all
 * that stayed in the group are gone. On a cancel, after `timeoutMs`, and when it leaves something
 * running, the group gets SIGTERM and, `graceMs` later, SIGKILL. It never waits for ever: what
 * left the group and still holds an output open is left alone, and its output with it.
 *
 * Rejects with an `Error` in words for the model when the process cannot be started.
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessEnd> {
  const { timeoutMs, graceMs, signal } = request;
  const child = launch(request);
  const failed = new Promise<Error>((resolve) => child.on('error', resolve));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const closed = new Promise((resolve) => child.once('close', resolve));
  if (child.pid === undefined) throw startError(request.file, await failed);
  const group = child.pid;
  endWithUs(group, 'SIGKILL');
  try {
    const outputs = [child.stdout, child.stderr].map((stream) => {
      const output = new OutputWindow(KEPT_BYTES);
      stream.on('error', () => undefined).on('data', (bytes: Uint8Array) => {
        output.push(bytes);
      });
      return output;
    });
    const waited = await within(exited, timeoutMs, signal);
    if (waited === 'done') await within(closed, graceMs, signal);
    const neededSignal = await endGroup(group, graceMs);
    const isOver = (await within(closed, graceMs)) === 'done';
    if (!isOver) abandon(child);
    const [stdout = '', stderr = ''] = outputs.map((output) => output.text());
    return {
      exitCode: child.exitCode,
      signal: child.signalCode,
      stdout,
      stderr,
      endedFor: waited === 'done' ? null : waited,
      hadLeftovers: waited === 'done' && neededSignal !== null,
      isOver,
    };
  } finally {
    forget(group);
  }
}

type Piped = ReturnType<typeof launch>;

/** Some failures are thrown, others come as an event. */
function launch({ file, args, cwd, env }: ProcessRequest) {
  try {
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
    return spawn(file, args, { cwd, env, stdio, detached: true, shell: false });
  } catch (error) {
    throw startError(file, error);
  }
}

/** Lets go of a process that cannot be ended, or of outputs that somebody else holds open. */
function abandon(child: Piped): void {
  child.stdout.destroy();
  child.stderr.destroy();
  child.unref();
}

const START_REASONS = new Map([
  ['ENOENT', 'was not found'],
  ['EACCES', 'may not be run (permission denied)'],
  ['EPERM', 'may not be run (permission denied)'],
  ['ENOTDIR', 'goes through something that is not a folder'],
  ['ENOEXEC', 'is no program this machine can run'],
  ['E2BIG', 'could not be started: its arguments are too long'],
  ['EAGAIN', 'could not be started: there are too many processes'],
  ['EMFILE', 'could not be started: too many files are open'],
]);

function startError(file: string, error: unknown): Error {
  const code = errorCode(error);
  const reason = START_REASONS.get(code) ?? `could not be started (${code})`;
  return new Error(`command: ${quotePath(file)} ${reason}`);
}
