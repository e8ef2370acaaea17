import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';

import { JsonlSessionLog, SessionLogInUseError, sessionLogHolder } from '@celestea/session';
import { describe, expect, test } from 'vitest';

import { openDescriptors } from './support/descriptors.ts';
import { testFile } from './support/folder.ts';
import { user } from './support/rows.ts';
import { diskError, TestDisk } from './support/test-disk.ts';

/** A process id that nobody has any more. */
const deadPid = (): number => spawnSync(process.execPath, ['--version']).pid;

interface Lock {
  token: string;
  pid: number;
  host: string;
  since: string;
  started: string | null;
}

const lockOf = (more: Partial<Lock> = {}): Lock => ({
  token: '00000000-0000-4000-8000-000000000000',
  pid: deadPid(),
  host: hostname(),
  since: '2026-01-02T03:04:05.678Z',
  started: null,
  ...more,
});

/** A file whose lock is there already. */
function lockedFile(lock: unknown): string {
  const path = testFile();
  writeFileSync(`${path}.lock`, typeof lock === 'string' ? lock : JSON.stringify(lock));
  return path;
}

const filesBeside = (path: string): string[] => readdirSync(dirname(path)).sort();

async function refusal(path: string): Promise<SessionLogInUseError> {
  try {
    await JsonlSessionLog.open(path);
  } catch (error) {
    if (error instanceof SessionLogInUseError) return error;
    throw error;
  }
  throw new Error('it was opened');
}

describe('one writer', () => {
  test('C4.2 a second one in this process is refused, and told who writes', async () => {
    const path = testFile();
    const log = await JsonlSessionLog.open(path);
    const descriptors = openDescriptors();
    const error = await refusal(path);
    expect(error.path).toBe(path);
    expect(error.holder).toMatchObject({ pid: process.pid, host: hostname() });
    expect(new Date(error.holder?.since ?? '').getTime()).toBeLessThanOrEqual(Date.now());
    expect(error.message).toContain(`in use by process ${String(process.pid)} on ${hostname()}`);
    expect(error.message).toContain(`remove ${path}.lock`);
    expect(openDescriptors()).toBe(descriptors);
    expect(filesBeside(path)).toEqual(['log.jsonl', 'log.jsonl.lock']);
    log.append(user('undisturbed'));
    await log.close();
    const again = await JsonlSessionLog.open(path);
    expect(again.events()).toEqual([user('undisturbed')]);
    await again.close();
    expect(filesBeside(path)).toEqual(['log.jsonl']);
  });

  test('C4.2 of many that open at once one does', async () => {
    const path = testFile();
    const opening = Array.from({ length: 20 }, () => JsonlSessionLog.open(path));
    const results = await Promise.allSettled(opening);
    const open = results.filter((result) => result.status === 'fulfilled');
    expect(open).toHaveLength(1);
    for (const { value } of open) await value.close();
    expect(filesBeside(path)).toEqual(['log.jsonl']);
  });

  test('reading is always possible', async () => {
    const path = testFile();
    const log = await JsonlSessionLog.open(path);
    log.append(user('a'));
    const reader = await JsonlSessionLog.open(path, { readOnly: true });
    expect(reader.events()).toEqual([user('a')]);
    await reader.close();
    expect(existsSync(`${path}.lock`)).toBe(true);
    await log.close();
  });

  test('closing lets go also when the last flush failed', async () => {
    const path = testFile();
    const disk = new TestDisk();
    const descriptors = openDescriptors();
    const log = await JsonlSessionLog.open(path, { fileSystem: disk });
    disk.onSync = () => diskError('EIO');
    log.append(user('a'));
    await expect(log.close()).rejects.toThrow('its disk failed: EIO: injected');
    expect(openDescriptors()).toBe(descriptors);
    expect(filesBeside(path)).toEqual(['log.jsonl']);
    await (await JsonlSessionLog.open(path)).close();
  });

  test('an opening that fails lets go, whatever failed', async () => {
    const path = testFile();
    writeFileSync(path, '{"type":"turn_start","id":"turn-0"}');
    const descriptors = openDescriptors();
    for (const fail of ['onWrite', 'onSync', 'onTruncate'] as const) {
      if (fail === 'onTruncate') writeFileSync(path, '{"type":"turn_sta');
      const disk = new TestDisk();
      disk[fail] = () => {
        throw diskError('EIO');
      };
      await expect(JsonlSessionLog.open(path, { fileSystem: disk })).rejects.toThrow('EIO');
      expect(openDescriptors()).toBe(descriptors);
      expect(filesBeside(path)).toEqual(['log.jsonl']);
    }
  });

  test('closing leaves a lock alone that is of another writer', async () => {
    const path = testFile();
    const log = await JsonlSessionLog.open(path);
    rmSync(`${path}.lock`);
    const theirs = JSON.stringify(lockOf({ host: 'elsewhere' }));
    writeFileSync(`${path}.lock`, theirs);
    await log.close();
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(theirs);
  });
});

describe('a lock that was left', () => {
  test('by a process that is gone is taken over', async () => {
    const path = lockedFile(lockOf());
    const log = await JsonlSessionLog.open(path);
    expect(readFileSync(`${path}.lock`, 'utf8')).toContain(`"pid":${String(process.pid)},`);
    expect(filesBeside(path)).toEqual(['log.jsonl', 'log.jsonl.lock']);
    await log.close();
    expect(filesBeside(path)).toEqual(['log.jsonl']);
  });

  const living: [string, number][] = [
    ['this process', process.pid],
    ['its parent', process.ppid],
    ['the first process', 1],
  ];
  test.runIf(process.platform === 'linux').each(living)(
    'by a process whose id is that of %s now is taken over',
    async (_, pid) => {
      for (const started of ['another-boot/1', 'garbage']) {
        const path = lockedFile(lockOf({ pid, started }));
        await (await JsonlSessionLog.open(path)).close();
        expect(filesBeside(path)).toEqual(['log.jsonl']);
      }
    },
  );

  test.each<[string, Partial<Lock>]>([
    ['this process', { pid: process.pid }],
    ['a living process that does not say when it started', { pid: process.ppid }],
    ['a process of another host', { host: 'another-host' }],
    ['a process of another host, started long ago', { host: 'another-host', started: 'x/1' }],
    ['a process id that is none', { pid: 1e300 }],
    ['every process', { pid: -1 }],
  ])('is respected when it is of %s', async (_, more) => {
    const lock = lockOf(more);
    const path = lockedFile(lock);
    const { holder } = await refusal(path);
    expect(holder).toMatchObject({ pid: lock.pid, host: lock.host, since: lock.since });
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(JSON.stringify(lock));
    expect(filesBeside(path)).toEqual(['log.jsonl.lock']);
  });

  test.each<[string, unknown]>([
    ['empty', ''],
    ['NUL', '\0\0\0'],
    ['text', 'locked'],
    ['cut off', JSON.stringify(lockOf()).slice(0, 40)],
    ['null', 'null'],
    ['without a token', { ...lockOf(), token: undefined }],
    ['with a token that leads elsewhere', lockOf({ token: '../../x' })],
    ['with a process id of a wrong type', { ...lockOf(), pid: '12' }],
    ['without a host', { ...lockOf(), host: undefined }],
    ['with a start of a wrong type', { ...lockOf(), started: 5 }],
  ])('and cannot be read (%s) was not left by a crash: it is named, and stays', async (_, lock) => {
    const path = lockedFile(lock);
    const before = readFileSync(`${path}.lock`, 'utf8');
    const { holder, message } = await refusal(path);
    expect(holder).toBe(null);
    expect(message).toBe(`${path} is in use by somebody; if that is wrong, remove ${path}.lock`);
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(before);
    expect(filesBeside(path)).toEqual(['log.jsonl.lock']);
    rmSync(`${path}.lock`);
    await (await JsonlSessionLog.open(path)).close();
  });
});

describe('a takeover that crashed', () => {
  const guardOf = (lockPath: string, lock: Lock): string => `${lockPath}.${lock.token}.guard`;
  const tokens = ['a', 'b', 'c', 'd'].map((letter) => `${letter}0000000-0000`);

  /** A dead lock, and `depth` guards that each were left in a takeover of the one before. */
  function leftovers(depth: number, last: Partial<Lock> = {}): string {
    const path = testFile();
    let place = `${path}.lock`;
    for (const [index, token] of tokens.slice(0, depth + 1).entries()) {
      const lock = lockOf({ token, ...(index === depth ? last : {}) });
      writeFileSync(place, JSON.stringify(lock));
      place = guardOf(place, lock);
    }
    return path;
  }

  test.each([1, 2])('left %i guards: the next one takes over', async (depth) => {
    const path = leftovers(depth);
    const log = await JsonlSessionLog.open(path);
    expect(filesBeside(path)).toEqual(['log.jsonl', 'log.jsonl.lock']);
    await log.close();
    expect(filesBeside(path)).toEqual(['log.jsonl']);
  });

  test('left more than that: it is refused, and the file to remove is named', async () => {
    const path = leftovers(3);
    const files = filesBeside(path);
    expect((await refusal(path)).message).toMatch(/remove .*\.guard$/);
    expect(filesBeside(path)).toEqual(files);
  });

  test('one that goes on in a living process is left alone', async () => {
    const path = leftovers(1, { pid: process.ppid });
    const files = filesBeside(path);
    expect((await refusal(path)).holder?.pid).toBe(process.ppid);
    expect(filesBeside(path)).toEqual(files);
  });

  test('after the new lock was in place: its guard harms nobody', async () => {
    const path = lockedFile(lockOf());
    writeFileSync(`${path}.lock.f0000000.guard`, JSON.stringify(lockOf()));
    await (await JsonlSessionLog.open(path)).close();
    expect(filesBeside(path)).toEqual(['log.jsonl', 'log.jsonl.lock.f0000000.guard']);
  });
});

test('asking who writes a log changes nothing, and a dead process holds nothing', async () => {
  const path = testFile();
  expect(sessionLogHolder(path)).toEqual({ held: false });
  const log = await JsonlSessionLog.open(path);
  expect(sessionLogHolder(path)).toMatchObject({ held: true, holder: { pid: process.pid } });
  await log.close();
  expect(sessionLogHolder(path)).toEqual({ held: false });
  writeFileSync(`${path}.lock`, 'not a lock');
  expect(sessionLogHolder(path)).toEqual({ held: true, holder: null });
  const dead = lockOf();
  writeFileSync(`${path}.lock`, JSON.stringify(dead));
  expect(sessionLogHolder(path)).toEqual({ held: false });
  expect(readFileSync(`${path}.lock`, 'utf8')).toBe(JSON.stringify(dead));
});
