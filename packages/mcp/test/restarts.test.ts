import { expect, test } from 'vitest';

import { Connection, RestartBudget, type RestartLimits } from '../src/connection.ts';
import { readSource } from '../src/source.ts';
import { atEnd } from './support/at-end.ts';
import { ByHand } from './support/servers.ts';
import { failure } from './support/use.ts';

const limits = (
  restarts: number,
  window: Pick<RestartLimits, 'restartWindowMs'>,
  time: { ms: number },
): RestartLimits => ({ restarts, ...window, now: () => time.ms });

test('restarts without a window are used up for good', () => {
  const time = { ms: 0 };
  const budget = new RestartBudget(limits(2, {}, time));
  expect([budget.take(), budget.take()]).toEqual([null, null]);
  time.ms = 1e15;
  expect(budget.take()).toBe('no more restarts are tried (2 in all)');
});

test('each restart is given back when the window has passed it', () => {
  const time = { ms: 5_000 };
  const budget = new RestartBudget(limits(2, { restartWindowMs: 60_000 }, time));
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
  for (const window of [{}, { restartWindowMs: 1 }]) {
    const budget = new RestartBudget(limits(0, window, { ms: 0 }));
    expect(budget.take()).toBe('no more restarts are tried (0 in all)');
  }
});

test('a server that dies is started again when its window has passed', async () => {
  const time = { ms: 0 };
  let server = new ByHand();
  const connection = new Connection({
    ...limits(1, { restartWindowMs: 60_000 }, time),
    dial: readSource(() => (server = new ByHand({ ping: () => ({}) }))),
    startTimeoutMs: 60_000,
    list: () => Promise.resolve(),
  });
  atEnd(() => connection.close());
  const ping = (): Promise<unknown> =>
    connection.use(undefined, (session) => session.request('ping', {}));
  await connection.start();
  await server.close();
  expect(await ping()).toEqual({});
  await server.close();
  expect(await failure(ping())).toMatch(/; no more restarts are tried for 60 s \(1 within/);
  time.ms = 60_000;
  expect(await ping()).toEqual({});
});
