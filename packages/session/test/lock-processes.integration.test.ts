import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { JsonlSessionLog, SessionLogInUseError } from '@celestea/session';
import { expect, test } from 'vitest';

import { Child, compiled } from './support/child.ts';
import { testFile, testFolder } from './support/folder.ts';
import { user } from './support/rows.ts';

const script = compiled('holder');

/** A process that has the log open. */
async function holderOf(path: string): Promise<Child> {
  const child = new Child(script);
  child.send(path);
  expect(await child.line()).toBe('open');
  return child;
}

test('C4.2 a log that another process writes is refused, and can be read', async () => {
  const path = testFile();
  const child = await holderOf(path);
  const opening = JsonlSessionLog.open(path);
  await expect(opening).rejects.toThrow(SessionLogInUseError);
  await expect(opening).rejects.toMatchObject({ holder: { pid: child.pid } });
  await (await JsonlSessionLog.open(path, { readOnly: true })).close();
  expect(await child.end()).toEqual({ code: 0, signal: null, stderr: '' });
  await (await JsonlSessionLog.open(path)).close();
});

test('C4.2 and the other way round: the other process is told of this one', async () => {
  const path = testFile();
  const log = await JsonlSessionLog.open(path);
  const child = new Child(script);
  child.send(path);
  expect(await child.line()).toBe(`refused ${String(process.pid)}`);
  await log.close();
  child.send(path);
  expect(await child.line()).toBe('open');
  await child.end();
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test('C4.2 a lock left by SIGKILL is taken over', async () => {
  const path = testFile();
  const child = await holderOf(path);
  expect(await child.kill()).toMatchObject({ signal: 'SIGKILL' });
  expect(existsSync(`${path}.lock`)).toBe(true);
  const log = await JsonlSessionLog.open(path);
  log.append(user('on'));
  await log.close();
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test.runIf(process.platform === 'linux')(
  'C4.2 also before its parent took note of the death',
  async () => {
    const path = testFile();
    const child = await holderOf(path);
    process.kill(child.pid, 'SIGKILL');
    // Nothing is awaited, so that this process does not take note: it stays a zombie.
    while (!readFileSync(`/proc/${String(child.pid)}/stat`, 'utf8').includes(') Z ')) continue;
    const log = await JsonlSessionLog.open(path);
    await log.close();
    await child.kill();
  },
);

test('C4.2 of 20 processes that race to take over a dead lock exactly one wins', async () => {
  const folder = testFolder();
  const stale = join(folder, 'stale.jsonl');
  await (await holderOf(stale)).kill();
  const racers = Array.from({ length: 20 }, () => new Child(script));
  const ready = join(folder, 'ready-');
  for (const [index, racer] of racers.entries()) racer.send(`${ready}${String(index)}.jsonl`);
  for (const racer of racers) expect(await racer.line()).toBe('open');
  for (let round = 0; round < 6; round += 1) {
    const path = join(folder, `round-${String(round)}.jsonl`);
    copyFileSync(`${stale}.lock`, `${path}.lock`);
    for (const racer of racers) racer.send(path);
    const answers = await Promise.all(racers.map((racer) => racer.line()));
    expect(answers.filter((answer) => answer === 'open')).toHaveLength(1);
    const winner = racers[answers.indexOf('open')];
    const holder = JSON.parse(readFileSync(`${path}.lock`, 'utf8')) as { pid: number };
    expect(holder.pid).toBe(winner?.pid);
    expect(answers.every((answer) => /^(open|refused \d+)$/.test(answer ?? ''))).toBe(true);
  }
  for (const racer of racers) expect(await racer.end()).toMatchObject({ code: 0, stderr: '' });
  const left = readdirSync(dirname(stale)).filter((name) => !name.endsWith('.jsonl'));
  expect(left).toEqual(['stale.jsonl.lock']);
});
