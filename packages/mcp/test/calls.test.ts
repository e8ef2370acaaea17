import { expect, test, vi } from 'vitest';

import { ByHand, goodServer, byHand, inside } from './support/servers.ts';
import { failure, open, openRegistry, progressEvents } from './support/use.ts';

test.each([
  ['a process', goodServer],
  ['this process', inside],
])('progress is passed on, with the call it is of, from %s', async (_, source) => {
  const { onProgress, next } = progressEvents();
  const { call } = await openRegistry(source, { prefix: 'p', onProgress });
  expect((await call('p_steps')).value).toBe('done');
  const about = { tool: 'p_steps', callId: 'call-1' };
  expect(await next()).toEqual({ ...about, progress: 1, total: 2, message: 'half' });
  expect(await next()).toEqual({ ...about, progress: 2, total: 2 });
});

test('what onProgress throws is dropped', async () => {
  const onProgress = (): void => {
    throw new Error('own matter');
  };
  const { call } = await openRegistry(inside, { onProgress });
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
  const { call } = await openRegistry(inside, { onProgress });
  const controller = new AbortController();
  const waiting = call('stubborn', {}, controller.signal);
  await next();
  controller.abort();
  expect((await waiting).error).toMatch(/abort/);
  expect((await call('log', { until: 'answered' })).value).toBe('answered late');
});

test('a call that was cancelled before does not reach the server', async () => {
  const server = new ByHand();
  const [tool] = (await open(server)).tools();
  const signal = AbortSignal.abort('no reason that is an error');
  expect(await failure(tool?.execute({}, { signal }))).toBe('cancelled');
  expect(server.heard.filter((message) => 'method' in message).at(-1)).toMatchObject({
    method: 'tools/list',
  });
});

test('no arguments at all are an empty object', async () => {
  const { call } = await openRegistry(inside);
  expect((await call('echo', null)).value).toBe('undefined');
});

test('calls run beside each other, and each gets its own answer', async () => {
  const { call } = await openRegistry(goodServer);
  const texts = Array.from({ length: 50 }, (_, index) => String(index));
  const outputs = await Promise.all(texts.map((text) => call('echo', { text })));
  expect(outputs.map(({ value }) => value)).toEqual(texts);
});

test.each(['garbage', 'twice', 'asks'])('%s on stdout disturbs nothing', async (way) => {
  const result = { content: [{ type: 'text', text: 'the answer' }] };
  const { call } = await openRegistry(byHand(way, result));
  expect((await call('a')).value).toBe('the answer');
  expect((await call('a')).value).toBe('the answer');
});

test.each([{ _meta: 7 }, 7])('an answer that is malformed (%j) fails its call', async (result) => {
  const { call } = await openRegistry(byHand('answer', result));
  expect((await call('a')).error).toBe(
    'MCP error -32600: the answer of the server is malformed',
  );
});

/** A call of a server that only reports progress, by a clock of the test's. */
async function silentCall(options = {}): Promise<{
  server: ByHand;
  ended: () => Promise<unknown>;
  progress: () => void;
  controller: AbortController;
}> {
  let token: unknown;
  const server = new ByHand({
    'tools/call': ({ _meta }) => {
      token = (_meta as { progressToken?: unknown } | undefined)?.progressToken;
    },
  });
  const { call } = await openRegistry(server, options);
  vi.useFakeTimers();
  const controller = new AbortController();
  let error: unknown = 'none yet';
  void call('a', {}, controller.signal).then((output) => (error = output.error));
  const ended = async (): Promise<unknown> => {
    await vi.advanceTimersByTimeAsync(0);
    return error;
  };
  await ended();
  const progress = (): void => {
    const params = { progressToken: token, progress: 1 };
    server.say({ method: 'notifications/progress', params });
  };
  return { server, ended, progress, controller };
}

test.each([
  ['60 seconds', {}, 60_000],
  ['callTimeoutMs', { callTimeoutMs: 300 }, 300],
])('a call without an answer is given up after %s, and cancelled', async (_, options, ms) => {
  const { server, ended } = await silentCall(options);
  await vi.advanceTimersByTimeAsync(ms - 1);
  expect(await ended()).toBe('none yet');
  await vi.advanceTimersByTimeAsync(1);
  expect(await ended()).toBe(`MCP server by hand: no answer within ${String(ms)} ms`);
  expect(server.heard.at(-1)).toMatchObject({ method: 'notifications/cancelled' });
});

test('progress starts the time of a call anew, whoever hears of it', async () => {
  const { ended, progress } = await silentCall({ callTimeoutMs: 100 });
  for (let count = 0; count < 5; count += 1) {
    await vi.advanceTimersByTimeAsync(99);
    progress();
    expect(await ended()).toBe('none yet');
  }
  await vi.advanceTimersByTimeAsync(100);
  expect(await ended()).toMatch(/no answer within 100 ms/);
});

test('callTimeoutMs: 0 lets a call wait until it is cancelled', async () => {
  const { ended, controller } = await silentCall({ callTimeoutMs: 0 });
  await vi.advanceTimersByTimeAsync(86_400_000);
  expect(await ended()).toBe('none yet');
  controller.abort(new Error('enough'));
  expect(await ended()).toBe('enough');
});
