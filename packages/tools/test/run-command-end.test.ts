import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { workTools, type RunCommandResult } from '@celestea/tools';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { freshFolder } from './support/folder.ts';
import { livingIn, makePipe, until } from './support/processes.ts';
import { toolNamed } from './support/work.ts';

const LONG = 600_000;

let root = '';
let exitListeners = 0;

beforeEach(() => {
  root = freshFolder();
  exitListeners = process.listenerCount('exit');
});

afterEach(() => {
  vi.useRealTimers();
  expect(process.listenerCount('exit')).toBe(exitListeners);
});

interface RunOptions {
  graceMs?: number;
  timeout_ms?: number;
  signal?: AbortSignal;
}

const shell = (script: string, options: RunOptions = {}): Promise<RunCommandResult> => {
  const { graceMs = 20, timeout_ms = LONG, signal } = options;
  const tool = toolNamed(workTools(root, { ask: false, graceMs }), 'run_command');
  const args = { command: ['sh', '-c', script], timeout_ms };
  const running = tool.execute(args, signal === undefined ? {} : { signal });
  return running as Promise<RunCommandResult>;
};

/** Starts a command that writes its process number, which is its group's, into a pipe. */
async function started(
  script: string,
  options: RunOptions = {},
): Promise<{ group: number; result: Promise<RunCommandResult> }> {
  const ready = makePipe(root, 'ready');
  const result = shell(script, options);
  result.catch(() => undefined);
  return { group: Number(await ready()), result };
}

const cancelled = 'cancelled; the command was ended';

describe('X2 a command that is cancelled', () => {
  test('is asked to end, and may tidy up', async () => {
    const controller = new AbortController();
    const { group, result } = await started(
      'trap "touch tidied; exit 0" TERM; echo $$ > ready; while :; do sleep 1000 & wait; done',
      { signal: controller.signal, graceMs: 60_000 },
    );
    controller.abort();
    await expect(result).rejects.toThrow(cancelled);
    expect(existsSync(join(root, 'tidied'))).toBe(true);
    expect(livingIn(group)).toEqual([]);
  });

  test.each([
    ['ignores that', 'trap "" TERM; echo $$ > ready; while :; do sleep 1000; done'],
    ['is stopped', 'echo $$ > ready; kill -STOP $$; sleep 1000'],
    [
      'hides behind children that ignore it',
      'trap "" TERM; (sleep 1000 & sleep 1000 & wait) & echo $$ > ready; wait; sleep 1000',
    ],
  ])('is killed when it %s', async (_title, script) => {
    const controller = new AbortController();
    const { group, result } = await started(script, { signal: controller.signal });
    expect(livingIn(group).length).toBeGreaterThan(0);
    controller.abort();
    await expect(result).rejects.toThrow(cancelled);
    expect(livingIn(group)).toEqual([]);
  });

  test('is not started when it was cancelled before', async () => {
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(shell('touch started', { signal })).rejects.toThrow('too late');
    const controller = new AbortController();
    const result = shell('touch started', { signal: controller.signal });
    controller.abort(new Error('while its folder was looked up'));
    await expect(result).rejects.toThrow('while its folder was looked up');
    expect(existsSync(join(root, 'started'))).toBe(false);
  });

  test('is not waited for when it ended, but what it left holds its output open', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const controller = new AbortController();
    const { group, result } = await started('sleep 1000 & echo $$ > ready; exit 0', {
      signal: controller.signal,
      graceMs: 60_000,
    });
    await until(() => !livingIn(group).includes(group));
    controller.abort();
    await until(() => livingIn(group).length === 0);
    await vi.advanceTimersByTimeAsync(20);
    await expect(result).rejects.toThrow(cancelled);
  });
});

describe('a command whose time is up', () => {
  test('gets SIGTERM, then SIGKILL, and what it said until then is the result', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const heard = makePipe(root, 'heard');
    const { group, result } = await started(
      'trap "echo asked; echo yes > heard" TERM; echo $$ > ready; ' +
        'while :; do sleep 1000 & wait; done',
      { timeout_ms: 5_000, graceMs: 3_000 },
    );
    await vi.advanceTimersByTimeAsync(4_999);
    expect(livingIn(group).length).toBeGreaterThan(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(await heard()).toBe('yes');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(livingIn(group).length).toBeGreaterThan(0);
    await vi.advanceTimersByTimeAsync(1_000);
    await until(() => livingIn(group).length === 0);
    await vi.advanceTimersByTimeAsync(20);
    expect(await result).toEqual({
      exit_code: null,
      signal: 'SIGKILL',
      stdout: 'asked\n',
      stderr: '',
      timed_out: true,
      note: 'it was ended after 5000 ms',
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('in real time too', async () => {
    const result = await shell('sleep 1000', { timeout_ms: 1 });
    expect(result).toMatchObject({ exit_code: null, timed_out: true });
  });

  test('is a minute when nothing is said', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const ready = makePipe(root, 'ready');
    const tool = toolNamed(workTools(root, { ask: false }), 'run_command');
    const result = tool.execute({ command: ['sh', '-c', 'echo $$ > ready; exec sleep 1000'] });
    const group = Number(await ready());
    await vi.advanceTimersByTimeAsync(59_999);
    expect(livingIn(group)).toEqual([group]);
    await vi.advanceTimersByTimeAsync(1);
    await until(() => livingIn(group).length === 0);
    await vi.advanceTimersByTimeAsync(20);
    expect(await result).toMatchObject({ timed_out: true, signal: 'SIGTERM' });
  });
});

describe('what a command leaves running', () => {
  const leftovers = 'what it had left running was ended';

  test.each([
    ['that holds its output open', 'sleep 1000 & echo $$ > ready; echo out; exit 3'],
    ['that ignores SIGTERM', '(trap "" TERM; sleep 1000) & echo $$ > ready; echo out; exit 3'],
    [
      'that lets go of the output',
      'sleep 1000 > /dev/null 2>&1 & echo $$ > ready; echo out; exit 3',
    ],
    [
      'that was left by something it left',
      'sh -c "sleep 1000 & sleep 1000 &"; echo $$ > ready; echo out; exit 3',
    ],
  ])('is ended with it: a process %s', async (_title, script) => {
    const { group, result } = await started(script);
    expect(await result).toEqual({
      exit_code: 3,
      signal: null,
      stdout: 'out\n',
      stderr: '',
      timed_out: false,
      note: leftovers,
    });
    expect(livingIn(group)).toEqual([]);
  });

  test('a session of its own is out of reach, and does not hold up the call', async () => {
    const escaped = makePipe(root, 'escaped');
    makePipe(root, 'go');
    const result = shell(
      "setsid sh -c 'echo $$ > escaped; exec sleep 1000' & read x < go; echo out; exit 3",
    );
    const pid = Number(await escaped());
    try {
      await writeFile(join(root, 'go'), 'go\n');
      expect(await result).toEqual({
        exit_code: 3,
        signal: null,
        stdout: 'out\n',
        stderr: '',
        timed_out: false,
        note: 'something it started could not be ended and still runs',
      });
      expect(livingIn(pid)).toEqual([pid]);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
    await until(() => livingIn(pid).length === 0);
  });

  test('a command that lets go of its outputs is waited for all the same', async () => {
    expect(await shell('exec > /dev/null 2>&1; sleep 0.1; touch done; exit 4')).toMatchObject({
      exit_code: 4,
    });
    expect(existsSync(join(root, 'done'))).toBe(true);
  });

  test('a command does not outlive this process', async () => {
    const { group, result } = await started('trap "" TERM; echo $$ > ready; sleep 1000');
    const [onExit] = process.listeners('exit').slice(-1);
    onExit?.(0);
    expect(await result).toMatchObject({ signal: 'SIGKILL', timed_out: false });
    expect(livingIn(group)).toEqual([]);
  });

  test('many commands at once share one listener on the exit of this process', async () => {
    const counts: number[] = [];
    const results = Array.from({ length: 15 }, async (_, index) => {
      const { exit_code } = await shell(`exit ${String(index)}`);
      counts.push(process.listenerCount('exit'));
      return exit_code;
    });
    expect(await Promise.all(results)).toEqual([...Array(15).keys()]);
    expect(Math.max(...counts)).toBeLessThanOrEqual(exitListeners + 1);
  });
});
