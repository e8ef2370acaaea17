import { expect, test } from 'vitest';

import {
  failure,
  goodServer,
  hostileServer,
  open,
  openRegistry,
  progressEvents,
} from './support/mcp-support.ts';

test('progress is passed on, with the call it is of', async () => {
  const { onProgress, next } = progressEvents();
  const { call } = await openRegistry(goodServer, { prefix: 'p', onProgress });
  expect((await call('p_steps')).value).toBe('done');
  const about = { tool: 'p_steps', callId: 'call-1' };
  expect(await next()).toEqual({ ...about, progress: 1, total: 2, message: 'half' });
  expect(await next()).toEqual({ ...about, progress: 2, total: 2 });
});

test('what onProgress throws is dropped', async () => {
  const onProgress = (): void => {
    throw new Error('own matter');
  };
  const { call } = await openRegistry(goodServer, { onProgress });
  expect(await call('steps')).toMatchObject({ value: 'done', error: null });
});

test('a cancel reaches the server, and the call ends at once', async () => {
  const { onProgress, next } = progressEvents();
  const { call } = await openRegistry(goodServer, { onProgress });
  const controller = new AbortController();
  const waiting = call('wait', {}, controller.signal);
  await next();
  controller.abort(new Error('enough'));
  expect((await waiting).error).toBe('enough');
  expect((await call('log', { until: 'cancelled' })).value).toBe('cancelled: enough');
});

test('an answer after the cancel is nobody’s, and the next call works', async () => {
  const { onProgress, next } = progressEvents();
  const { call } = await openRegistry(goodServer, { onProgress });
  const controller = new AbortController();
  const waiting = call('stubborn', {}, controller.signal);
  await next();
  controller.abort();
  expect((await waiting).error).toMatch(/abort/);
  expect((await call('log', { until: 'answered' })).value).toBe('answered late');
});

test('a call that was cancelled before does not reach the server', async () => {
  const mcp = await open(goodServer);
  const tool = mcp.tools().find((each) => each.spec().name === 'wait');
  const signal = AbortSignal.abort('no reason that is an error');
  expect(await failure(tool?.execute({}, { signal }) ?? Promise.resolve())).toBe('cancelled');
});

test('callTimeoutMs gives a call up and cancels it', async () => {
  const { call } = await openRegistry(goodServer, { callTimeoutMs: 300 });
  expect((await call('wait')).error).toBe('MCP server test server: no answer within 300 ms');
  let output = await call('log', { until: 'cancelled' });
  // A slow machine may take longer than that for this call as well.
  while (output.error !== null) output = await call('log', { until: 'cancelled' });
  expect(output.value).toMatch(/cancelled: .*within 300 ms/);
});

test('arguments are an object; none at all are an empty one', async () => {
  const { mcp, call } = await openRegistry(goodServer);
  expect((await call('echo', null)).value).toBe('undefined');
  const echo = mcp.tools().find((each) => each.spec().name === 'echo');
  expect(await failure(echo?.execute(['a']) ?? Promise.resolve())).toMatch(
    /arguments: expected an object/,
  );
});

test('calls run beside each other, and each gets its own answer', async () => {
  const { call } = await openRegistry(goodServer);
  const texts = Array.from({ length: 50 }, (_, index) => String(index));
  const outputs = await Promise.all(texts.map((text) => call('echo', { text })));
  expect(outputs.map(({ value }) => value)).toEqual(texts);
});

test('garbage on stdout, answers that nobody waits for and questions disturb nothing', async () => {
  const tools = [{ name: 'a' }];
  const result = { content: [{ type: 'text', text: 'the answer' }] };
  for (const way of ['garbage', 'twice', 'asks']) {
    const { call } = await openRegistry(hostileServer(way, tools, result));
    expect((await call('a')).value).toBe('the answer');
    expect((await call('a')).value).toBe('the answer');
  }
});
