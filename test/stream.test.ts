import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { DefaultAgentLoop } from '@celestea/agent-loop';
import {
  collectingSink,
  done,
  FakeSessionLog,
  FakeToolRegistry,
  Gate,
  HangingLlm,
  say,
  testContext,
  think,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  LLM_SERVICE,
  type LoopEvent,
  type SessionEvent,
  type StreamEvent,
} from '@celestea/core';

import { Cancellation, cancellationOf } from '../src/cancel.ts';
import { readStream } from '../src/stream.ts';

const interrupted: StreamEvent = { kind: 'interrupted' };
const failed: StreamEvent = { kind: 'failed', kindOf: 'stream', message: 'gave up' };

/** What follows the last event of a {@link countedStream}. */
type Then = 'end' | 'hang' | (() => Promise<never>);

/** A stream that counts how often it was pulled and closed. */
function countedStream(events: readonly unknown[], then: Then = 'end') {
  const counts = { pulled: 0, closed: 0 };
  const iterator = {
    next: (): Promise<unknown> => {
      const index = counts.pulled;
      counts.pulled += 1;
      if (index < events.length) return Promise.resolve({ done: false, value: events[index] });
      if (then === 'hang') return new Promise(() => undefined);
      return then === 'end' ? Promise.resolve({ done: true, value: undefined }) : then();
    },
    return: () => {
      counts.closed += 1;
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return { counts, stream: { [Symbol.asyncIterator]: () => iterator } };
}

interface Watch {
  signal?: AbortSignal;
  onEvent?: (event: LoopEvent) => void;
  onAppend?: (row: SessionEvent) => void;
}

/** One turn over one stream. */
async function runOver(stream: unknown, { signal, onEvent, onAppend }: Watch = {}) {
  const log = new FakeSessionLog(onAppend === undefined ? {} : { onAppend });
  const ctx = testContext({ llm: new HangingLlm(), log, tools: new FakeToolRegistry() });
  ctx.provide(LLM_SERVICE, { generate: () => Promise.resolve(stream) });
  const { sink, events } = collectingSink();
  const bindings = {
    sink: (event: LoopEvent) => {
      sink(event);
      onEvent?.(event);
    },
  };
  const loop = new DefaultAgentLoop(
    defaultAgentConfig(),
    signal === undefined ? bindings : { ...bindings, signal },
  );
  const result: unknown = await loop
    .runTurnOutcome(ctx, 'go')
    .catch((error: unknown) => ({ rejected: error }));
  const rows = [...log.rows];
  await setImmediate();
  expect(log.rows, 'nothing is written after the turn').toEqual(rows);
  return { result, rows, events };
}

describe('cancelled while reading', () => {
  test('L3.5 no reply row, no done event, thinking kept, stream closed once', async () => {
    const controller = new AbortController();
    const { counts, stream } = countedStream([think('so'), think(' far'), done('never')], 'hang');
    const { result, rows, events } = await runOver(stream, {
      signal: controller.signal,
      onEvent: (event) => {
        if (event.kind === 'thinking' && event.delta === ' far') controller.abort();
      },
    });
    expect(result).toBe('cancelled');
    expect(rows).toEqual([
      { type: 'turn_start', id: 'turn-0' },
      { type: 'user_message', text: 'go' },
      { type: 'thinking_delta', text: 'so far' },
      { type: 'turn_end', id: 'turn-0', outcome: 'cancelled' },
    ]);
    expect(events).toEqual([
      { kind: 'thinking', delta: 'so' },
      { kind: 'thinking', delta: ' far' },
      { kind: 'turn_end', outcome: 'cancelled' },
    ]);
    expect(counts).toEqual({ pulled: 2, closed: 1 });
  });

  test('L3.5 a done that was read before the cancel is not told', async () => {
    const controller = new AbortController();
    const { stream } = countedStream([...say('hi'), think('and')], 'hang');
    const { result, rows, events } = await runOver(stream, {
      signal: controller.signal,
      onEvent: (event) => {
        if (event.kind === 'thinking') controller.abort();
      },
    });
    expect(result).toBe('cancelled');
    expect(rows.map((row) => row.type)).toEqual([
      'turn_start',
      'user_message',
      'thinking_delta',
      'turn_end',
    ]);
    expect(events.map((event) => event.kind)).toEqual(['text', 'thinking', 'turn_end']);
  });

  test('L3.5 a hanging stream does not keep the turn; thinking so far is kept', async () => {
    const controller = new AbortController();
    const { counts, stream } = countedStream([think('hm')], 'hang');
    const running = runOver(stream, { signal: controller.signal });
    await setImmediate();
    expect(counts).toEqual({ pulled: 2, closed: 0 });
    controller.abort();
    const { result, rows } = await running;
    expect(result).toBe('cancelled');
    expect(rows.at(-2)).toEqual({ type: 'thinking_delta', text: 'hm' });
    expect(counts).toEqual({ pulled: 2, closed: 1 });
  });

  test.each(['resolves', 'rejects'])('L3.5 an abandoned next() that %s late', async (how) => {
    const controller = new AbortController();
    const gate = new Gate();
    const late = countedStream([], async () => {
      await gate.wait();
      throw new Error('too late');
    });
    if (how === 'resolves') {
      const iterator = late.stream[Symbol.asyncIterator]();
      iterator.next = () => gate.wait().then(() => ({ done: false, value: think('late') }));
    }
    const running = runOver(late.stream, { signal: controller.signal });
    await setImmediate();
    controller.abort();
    const { result, events } = await running;
    expect(result).toBe('cancelled');
    gate.open();
    await setImmediate(); // an unhandled rejection fails the run
    expect(events).toEqual([{ kind: 'turn_end', outcome: 'cancelled' }]);
    expect(late.counts.closed).toBe(1);
  });

  test('L3.5 a return() that throws, rejects or never settles is no matter', async () => {
    for (const close of [
      () => {
        throw new Error('cannot close');
      },
      () => Promise.reject(new Error('cannot close')),
      () => new Promise(() => undefined),
    ]) {
      const controller = new AbortController();
      const { stream } = countedStream([], 'hang');
      Object.assign(stream[Symbol.asyncIterator](), { return: close });
      const running = runOver(stream, { signal: controller.signal });
      await setImmediate();
      controller.abort();
      expect((await running).result).toBe('cancelled');
    }
  });

  test('L3.5 a model that cancels the turn from inside next()', async () => {
    const controller = new AbortController();
    const { counts, stream } = countedStream([], () => {
      controller.abort();
      return Promise.reject(new Error('aborted'));
    });
    expect((await runOver(stream, { signal: controller.signal })).result).toBe('cancelled');
    expect(counts).toEqual({ pulled: 1, closed: 1 });
  });
});

const torn = () => Promise.reject(new Error('torn'));

describe('closing the stream', () => {
  test.each([
    { name: 'failed', events: [failed, done('never')], pulled: 1 },
    { name: 'interrupted', events: [interrupted, done('never')], pulled: 1 },
    { name: 'failed after done', events: [done('hi'), failed, think('never')], pulled: 2 },
    { name: 'a malformed event', events: [think('hm'), { kind: 'x' }, done('')], pulled: 2 },
  ])('L3.6 after $name: closed once, not read on', async ({ events, pulled }) => {
    const { counts, stream } = countedStream(events, 'hang');
    await runOver(stream);
    expect(counts).toEqual({ pulled, closed: 1 });
  });

  test.each([
    ['text', { kind: 'text', text: 'x' }],
    ['done', done('x')],
    ['failed', failed],
    ['interrupted', interrupted],
  ])('L3.6 when the log breaks at the thinking row before %s', async (_, boundary) => {
    const fault = new Error('disk full');
    const { counts, stream } = countedStream([think('hm'), boundary], 'hang');
    const { result, events } = await runOver(stream, {
      onAppend: (row) => {
        if (row.type === 'thinking_delta') throw fault;
      },
    });
    expect(result).toHaveProperty('rejected', fault);
    expect(counts).toEqual({ pulled: 2, closed: 1 });
    expect(events.filter((event) => event.kind === 'turn_end')).toHaveLength(1);
  });

  test('L3.6 a terminal event whose thinking row cancels the turn closes it once', async () => {
    const controller = new AbortController();
    const { counts, stream } = countedStream([think('hm'), failed], 'hang');
    const { result } = await runOver(stream, {
      signal: controller.signal,
      onAppend: (row) => {
        if (row.type === 'thinking_delta') controller.abort();
      },
    });
    expect(result).toBe('cancelled');
    expect(counts).toEqual({ pulled: 2, closed: 1 });
  });

  test('L3.6 a stream that arrives after the cancel', async () => {
    const gate = new Gate();
    const controller = new AbortController();
    const { counts, stream } = countedStream(say('hi'));
    const generate = () => gate.wait().then((): unknown => stream);
    const log = new FakeSessionLog();
    const ctx = testContext({ llm: new HangingLlm(), log }).provide(LLM_SERVICE, { generate });
    const loop = new DefaultAgentLoop(defaultAgentConfig(), { signal: controller.signal });
    const running = loop.runTurnOutcome(ctx, 'go');
    await setImmediate();
    controller.abort();
    expect(await running).toBe('cancelled');
    expect(log.rows).toHaveLength(3);
    gate.open();
    await setImmediate();
    expect(counts).toEqual({ pulled: 0, closed: 1 });
    expect(log.rows).toHaveLength(3);
  });

  test('L3.6 a stream that arrives together with the cancel is closed unread', async () => {
    const controller = new AbortController();
    const { counts, stream } = countedStream(say('hi'));
    const ctx = testContext({ llm: new HangingLlm() }).provide(LLM_SERVICE, {
      generate: () =>
        Promise.resolve(stream).finally(() => {
          controller.abort();
        }),
    });
    const loop = new DefaultAgentLoop(defaultAgentConfig(), { signal: controller.signal });
    expect(await loop.runTurnOutcome(ctx, 'go')).toBe('cancelled');
    await setImmediate();
    expect(counts).toEqual({ pulled: 0, closed: 1 });
  });

  test('L3.6 a stream that cancels the turn when it is opened is closed unread', async () => {
    const controller = new AbortController();
    const { counts, stream } = countedStream(say('hi'));
    const opener = {
      [Symbol.asyncIterator]: () => {
        controller.abort();
        return stream[Symbol.asyncIterator]();
      },
    };
    expect((await runOver(opener, { signal: controller.signal })).result).toBe('cancelled');
    expect(counts).toEqual({ pulled: 0, closed: 1 });
  });

  test('L3.6 a generate that rejects after the cancel goes unheard', async () => {
    const gate = new Gate();
    const controller = new AbortController();
    const ctx = testContext({ llm: new HangingLlm() }).provide(LLM_SERVICE, {
      generate: () =>
        gate.wait().then(() => {
          throw new Error('too late');
        }),
    });
    const loop = new DefaultAgentLoop(defaultAgentConfig(), { signal: controller.signal });
    const running = loop.runTurnOutcome(ctx, 'go');
    await setImmediate();
    controller.abort();
    expect(await running).toBe('cancelled');
    gate.open();
    await setImmediate(); // an unhandled rejection fails the run
  });

  test('L3.6 a stream that was read to its end needs no closing', async () => {
    const { counts, stream } = countedStream(say('hi'));
    expect((await runOver(stream)).result).toBe('completed');
    expect(counts).toEqual({ pulled: 3, closed: 0 });
  });
});

/** `readStream` as the loop uses it; `take` says whether to read on. */
async function read(stream: unknown, take: (value: unknown) => boolean) {
  const { signal } = new AbortController();
  const cancellation = new Cancellation();
  cancellation.follow(cancellationOf(signal));
  try {
    return await readStream(() => stream, cancellation, take);
  } finally {
    expect(cancellation.followers.size).toBe(0);
    cancellation.release();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  }
}

describe('readStream', () => {
  test('L3.6 says how reading ended, and leaves no listener', async () => {
    const taken: unknown[] = [];
    const keep = (value: unknown) => taken.push(value) < 3;
    expect(await read(countedStream([1, 2]).stream, keep)).toEqual({ kind: 'ended' });
    expect(await read(countedStream([3, 4]).stream, keep)).toEqual({ kind: 'stopped' });
    const error = new Error('torn');
    const end = await read(countedStream([], () => Promise.reject(error)).stream, keep);
    expect(end).toHaveProperty('error', error);
    expect(taken).toEqual([1, 2, 3]);
  });

  test('L3.6 rejects with what `take` throws, even undefined', async () => {
    const { counts, stream } = countedStream([1, 2]);
    const take = () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- a seam may throw anything
      throw undefined;
    };
    await expect(read(stream, take)).rejects.toBeUndefined();
    expect(counts).toEqual({ pulled: 1, closed: 1 });
    expect(await read(countedStream([], torn).stream, take)).toMatchObject({ kind: 'threw' });
  });

  const shut = new Error('shut');
  const refuser = {
    [Symbol.asyncIterator]: () => {
      throw shut;
    },
  };

  test('L2.6 what is no stream, and what gives none, ends the reading', async () => {
    for (const value of [null, undefined, 'text', 5, [], {}]) {
      expect(await read(value, () => true)).toEqual({ kind: 'none', value });
    }
    expect(await read(Promise.reject(shut), () => true)).toEqual({ kind: 'failed', error: shut });
    expect(await read(refuser, () => true)).toEqual({ kind: 'threw', error: shut });
    const opener = { [Symbol.asyncIterator]: () => null };
    expect(await read(opener, () => true)).toHaveProperty('error', expect.any(TypeError));
  });

  test('L3.6 a stream that comes after the cancel is closed, and what else comes is let be', async () => {
    const { counts, stream } = countedStream([1]);
    const late = [stream, refuser, null, 5, {}, { [Symbol.asyncIterator]: () => null }];
    const values = late.map((value) => () => value);
    for (const give of [...values, () => Promise.reject(shut)]) {
      const cancellation = new Cancellation();
      const gate = new Gate();
      const reading = readStream(() => gate.wait().then(give), cancellation, () => true);
      cancellation.abort('enough');
      expect(await reading).toEqual({ kind: 'cancelled' });
      gate.open();
      await setImmediate();
      expect(cancellation.followers.size).toBe(0);
    }
    expect(counts).toEqual({ pulled: 0, closed: 1 });
  });
});

test.each([
  [5, '5'],
  [null, 'null'],
  [undefined, 'undefined'],
])('L2.6 a stream that gives %s where an iterator result is due is at fault, and closed', async (given, came) => {
  let closed = 0;
  const { result } = await runOver({
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.resolve(given),
      return: () => {
        closed += 1;
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  });
  const message = `the stream gave ${came} instead of an iterator result`;
  expect(result).toEqual({ error: { kind: 'stream', message } });
  expect(closed).toBe(1);
});
