import { expect, onTestFinished, test } from 'vitest';

import { Connection } from '../src/connection.ts';
import { readOptions } from '../src/options.ts';
import { RestartBudget, type RestartLimits } from '../src/restart-budget.ts';
import { readSource } from '../src/source.ts';
import { failure, goodServer } from './support/mcp-support.ts';

const limits = (
  restarts: number,
  restartWindowMs: number | null,
  time: { ms: number },
): RestartLimits => ({ restarts, restartWindowMs, now: () => time.ms });

test('restarts without a window are used up for good', () => {
  const time = { ms: 0 };
  const budget = new RestartBudget(limits(2, null, time));
  expect([budget.take(), budget.take()]).toEqual([null, null]);
  time.ms = 1e15;
  expect(budget.take()).toBe('no more restarts are tried (2 in all)');
});

test('each restart is given back when the window has passed it', () => {
  const time = { ms: 5_000 };
  const budget = new RestartBudget(limits(2, 60_000, time));
  expect(budget.take()).toBeNull();
  time.ms = 25_000;
  expect(budget.take()).toBeNull();
  time.ms = 64_999;
  expect(budget.take()).toBe('no more restarts are tried for 1 s (2 within 60 s)');
  time.ms = 65_000;
  expect(budget.take()).toBeNull();
  expect(budget.take()).toBe('no more restarts are tried for 20 s (2 within 60 s)');
});

test('none is none, with a window and without', () => {
  for (const windowMs of [null, 1]) {
    const budget = new RestartBudget(limits(0, windowMs, { ms: 0 }));
    expect(budget.take()).toBe('no more restarts are tried (0 in all)');
  }
});

test('a server that dies is started again when its window has passed', async () => {
  const time = { ms: 0 };
  const { startTimeoutMs } = readOptions({});
  const connection = new Connection({
    ...limits(1, 60_000, time),
    dial: readSource(goodServer),
    startTimeoutMs,
    onStart: () => Promise.resolve(),
    onListChanged: () => undefined,
  });
  onTestFinished(() => connection.close());
  const call = (name: string): Promise<unknown> =>
    connection.use([], (session) => session.request('tools/call', { name, arguments: {} }));
  await connection.start();
  await failure(call('die'));
  await call('facts');
  await failure(call('die'));
  expect(await failure(call('facts'))).toMatch(/; no more restarts are tried for 60 s \(1 within/);
  time.ms = 60_000;
  expect(await call('facts')).toHaveProperty('content');
});
