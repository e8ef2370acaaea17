import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import {
  createAgentLoop,
  trimContext,
  type AgentLoopBindings,
  type TurnTimeouts,
} from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  collectingSink,
  done,
  FakeSessionLog,
  FakeToolRegistry,
  HangingLlm,
  say,
  ScriptedLlm,
  testContext,
  think,
  type FakeTool,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  zeroUsage,
  type Llm,
  type LlmStream,
  type ToolRegistry,
} from '@celestea/core';

import { call, quiet, rawRegistry, settled } from './support/turn.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  expect(vi.getTimerCount(), 'no timer outlives a turn').toBe(0);
  vi.useRealTimers();
});

/** Timers that a test itself is waiting for. */
let own = 0;

const after = (ms: number): Promise<void> => {
  own += 1;
  return new Promise((resolve) => {
    setTimeout(() => {
      own -= 1;
      resolve();
    }, ms);
  });
};

const never = <T>(): Promise<T> => new Promise(() => undefined);

interface Play extends AgentLoopBindings {
  llm: Llm;
  tools?: ToolRegistry | Record<string, FakeTool>;
}

function begin({ llm, tools = {}, ...bindings }: Play) {
  const log = new FakeSessionLog();
  const registry = 'dispatch' in tools ? (tools as ToolRegistry) : new FakeToolRegistry(tools);
  const { sink, events } = collectingSink();
  const loop = createAgentLoop(defaultAgentConfig(), { sink, ...bindings });
  const ctx = testContext({ llm, log, tools: registry });
  return { log, events, result: settled(loop.runTurnOutcome(ctx, 'go')) };
}

/** Lets the fake clock run from timer to timer, as long as there are any. */
async function runClock(): Promise<void> {
  await quiet();
  while (vi.getTimerCount() > 0) {
    vi.advanceTimersToNextTimer();
    await quiet();
  }
}

/** Plays a turn to its end, and how long it took on the fake clock. */
async function play(given: Play) {
  const started = performance.now();
  const { log, events, result } = begin(given);
  let took = NaN;
  let left = NaN;
  void result.then(() => {
    took = performance.now() - started;
    left = vi.getTimerCount() - own;
  });
  await runClock();
  expect(took, 'the turn has ended').not.toBeNaN();
  expect(left, 'no timer outlives a turn').toBe(0);
  assertLogValid(log.rows);
  return { rows: log.rows, events, took, end: await result };
}

const idle = (ms: number) => {
  const message = `the model sent nothing for ${String(ms)} ms (streamIdleMs)`;
  return { resolved: { error: { kind: 'stream', message } } };
};

describe('X13 streamIdleMs', () => {
  const timeouts: TurnTimeouts = { streamIdleMs: 100 };

  test('X13 a generate that hangs', async () => {
    const { end, took, events } = await play({ llm: new HangingLlm(), timeouts });
    expect(end).toEqual(idle(100));
    expect(took).toBe(100);
    expect(events).toEqual([{ kind: 'turn_end', outcome: idle(100).resolved }]);
  });

  test('X13 a stream that arrives after that is closed', async () => {
    const late = new HangingLlm([]);
    const llm: Llm = { generate: () => after(500).then(() => late.generate()) };
    const { end, took } = await play({ llm, timeouts });
    expect([end, took, late.closed]).toEqual([idle(100), 100, 1]);
  });

  test('X13 a generate that rejects after that goes unheard', async () => {
    const llm: Llm = { generate: () => after(500).then(() => Promise.reject(new Error('late'))) };
    expect((await play({ llm, timeouts })).end).toEqual(idle(100));
  });

  test('X13 the first event: the stream is closed', async () => {
    const llm = new HangingLlm([]);
    const { end, took } = await play({ llm, timeouts });
    expect([end, took, llm.closed]).toEqual([idle(100), 100, 1]);
  });

  test('X13 between events: what came is kept, no reply is written', async () => {
    const llm = new HangingLlm([think('hm'), { kind: 'text', text: 'It' }, think('so')]);
    const { end, rows, took } = await play({ llm, timeouts });
    expect([end, took, llm.closed]).toEqual([idle(100), 100, 1]);
    expect(rows.slice(2)).toEqual([
      { type: 'thinking_delta', text: 'hm' },
      { type: 'thinking_delta', text: 'so' },
      { type: 'turn_end', id: 'turn-0', outcome: idle(100).resolved },
    ]);
  });

  test('X13 after a done event: its event comes first, and its calls are not run', async () => {
    const llm = new HangingLlm([done('', call('a'))]);
    const { end, events, rows } = await play({ llm, timeouts });
    expect(end).toEqual(idle(100));
    expect(events.map(({ kind }) => kind)).toEqual(['done', 'turn_end']);
    expect(rows.map(({ type }) => type)).not.toContain('tool_call');
  });

  test('X13 waits that are each short enough may be as long together as they like', async () => {
    const tick = () => after(99);
    const script = Array.from({ length: 20 }, () => [tick, think('.')]).flat();
    const llm = new ScriptedLlm([[...script, tick, ...say('Hi.'), tick]]);
    const { end, took } = await play({ llm, timeouts });
    expect([end, took]).toEqual([{ resolved: 'completed' }, 22 * 99]);
  });

  test.each([1, 5, 20])('X13 the limit counts anew from event %i', async (events) => {
    const script = Array.from({ length: events }, () => [() => after(60), think('.')]).flat();
    const llm = new ScriptedLlm([[...script, () => after(9_000)]]);
    const { end, took } = await play({ llm, timeouts });
    expect([end, took]).toEqual([idle(100), events * 60 + 100]);
  });

  test('X13 any event counts, usage as well', async () => {
    const usage = { kind: 'usage', usage: zeroUsage() } as const;
    const llm = new ScriptedLlm([[() => after(80), usage, () => after(80), ...say('Hi.')]]);
    expect((await play({ llm, timeouts })).end).toEqual({ resolved: 'completed' });
  });

  test('X13 generate and its first event are two waits', async () => {
    const script = new ScriptedLlm([[() => after(80), ...say('Hi.')]]);
    const llm: Llm = { generate: (request) => after(80).then(() => script.generate(request)) };
    expect((await play({ llm, timeouts })).end).toEqual({ resolved: 'completed' });
  });

  test('X13 time in our own sink does not count', async () => {
    const llm = new ScriptedLlm([[think('.'), think('.'), () => after(60), ...say('Hi.')]]);
    const sink = (): void => {
      vi.advanceTimersByTime(5_000);
    };
    const { result } = begin({ llm, timeouts, sink });
    await runClock();
    expect(await result).toEqual({ resolved: 'completed' });
  });

  test('X13 time in a tool, a policy or prepareStep does not count', async () => {
    const llm = new ScriptedLlm([callTools(call('a')), say('Hi.')]);
    const { end } = await play({
      llm,
      timeouts,
      tools: { echo: () => after(1_000) },
      prepareStep: () => after(1_000).then(() => undefined),
      contextPolicy: ({ messages }) =>
        after(1_000).then(() => trimContext(messages, 0, 0, 1, 1)),
    });
    expect(end).toEqual({ resolved: 'completed' });
  });

  test('X13 the model’s own signal aborts, the caller’s does not', async () => {
    const controller = new AbortController();
    const given: (AbortSignal | undefined)[] = [];
    const llm: Llm = {
      generate: (_, options) => {
        given.push(options?.signal);
        return never<LlmStream>();
      },
    };
    await play({ llm, timeouts, signal: controller.signal });
    expect(given.map((signal) => signal?.aborted)).toEqual([true]);
    expect(given[0]?.reason).toHaveProperty('name', 'TimeoutError');
    expect(controller.signal.aborted).toBe(false);
  });

  test('X13 a cancel wins: before the limit, and at the same moment', async () => {
    for (const ms of [50, 100]) {
      const controller = new AbortController();
      void after(ms).then(() => {
        controller.abort();
      });
      const { signal } = controller;
      const { end } = await play({ llm: new HangingLlm(), timeouts, signal });
      expect(end).toEqual({ resolved: 'cancelled' });
    }
  });

  test('X13 a stream that ends well in time leaves no timer, nor one that fails', async () => {
    for (const script of [say('Hi.'), [() => Promise.reject(new Error('torn'))]]) {
      const { result } = begin({ llm: new ScriptedLlm([script]), timeouts });
      await result;
      expect(vi.getTimerCount()).toBe(0);
    }
  });

  test('X13 a log that breaks while the model is read leaves no timer', async () => {
    const log = new FakeSessionLog({
      onAppend: ({ type }) => {
        if (type === 'thinking_delta') throw new Error('disk full');
      },
    });
    const llm = new HangingLlm([think('hm'), { kind: 'text', text: 'x' }]);
    const loop = createAgentLoop(defaultAgentConfig(), { timeouts });
    const end = await settled(loop.runTurnOutcome(testContext({ llm, log }), 'go'));
    expect(end).toEqual({ error: new Error('disk full') });
    expect(vi.getTimerCount()).toBe(0);
  });
});

const tooLate = (ms: number): string =>
  `timed out: the tool gave no result within ${String(ms)} ms; its outcome is not known`;

describe('X13 toolMs', () => {
  const timeouts: TurnTimeouts = { toolMs: 100 };
  const llm = () => new ScriptedLlm([callTools(call('a'), call('b')), say('Hi.')]);

  test('X13 a deaf tool gets an error result, its sibling its own, the loop goes on', async () => {
    const echo: FakeTool = (args, { input }) => (input.call_id === 'a' ? never() : args);
    const { end, rows, events, took } = await play({ llm: llm(), timeouts, tools: { echo } });
    expect([end, took]).toEqual([{ resolved: 'completed' }, 100]);
    expect(rows.slice(4)).toEqual([
      { type: 'tool_result', id: 'a', value: null, error: tooLate(100) },
      { type: 'tool_result', id: 'b', value: { of: 'b' }, error: null },
      { type: 'assistant_message', text: 'Hi.' },
      { type: 'turn_end', id: 'turn-0', outcome: 'completed' },
    ]);
    const told = events.find(({ kind }) => kind === 'tool_result');
    expect(told).toMatchObject({ callId: 'a', ok: false, value: null, error: tooLate(100) });
  });

  test('X13 its own signal aborts, not its sibling’s, the model’s or the caller’s', async () => {
    const controller = new AbortController();
    const given = new Map<string, AbortSignal | undefined>();
    const model = llm();
    const echo: FakeTool = (_, { input, signal }) => {
      given.set(input.call_id, signal);
      return input.call_id === 'a' ? never() : after(50);
    };
    await play({ llm: model, timeouts, tools: { echo }, signal: controller.signal });
    expect(given.get('a')?.reason).toHaveProperty('name', 'TimeoutError');
    expect(given.get('b')?.aborted).toBe(false);
    expect(model.signals.map((signal) => signal?.aborted)).toEqual([false, false]);
    expect(controller.signal.aborted).toBe(false);
  });

  test.each(['resolves', 'rejects'])('X13 a late value is dropped: it %s', async (how) => {
    const diagnostics: unknown[] = [];
    const echo: FakeTool = async () => {
      await after(500);
      if (how === 'rejects') throw new Error('late');
      return 'late';
    };
    const { rows } = await play({
      llm: llm(),
      timeouts,
      tools: { echo },
      onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    });
    const results = rows.flatMap((row) => (row.type === 'tool_result' ? [row.error] : []));
    expect(results).toEqual([tooLate(100), tooLate(100)]);
    expect(diagnostics).toEqual([]);
  });

  test.each(['resolves', 'rejects'])(
    'X13 a tool that hears its signal and %s at once is too late all the same',
    async (how) => {
      const registry = rawRegistry(
        ({ call_id }, options) =>
          new Promise((resolve, reject) => {
            const onAbort = (): void => {
              if (how === 'rejects') reject(new Error('stopped'));
              resolve({ call_id, value: 'late', render: null, error: null, decision: null });
            };
            options?.signal?.addEventListener('abort', onAbort, { once: true });
          }),
      );
      const { rows } = await play({ llm: llm(), timeouts, tools: registry });
      const results = rows.flatMap((row) => (row.type === 'tool_result' ? [row.error] : []));
      expect(results).toEqual([tooLate(100), tooLate(100)]);
    },
  );

  test('X13 a tool that is in time at the last moment keeps its value', async () => {
    const tools = { echo: () => after(99).then(() => 'ok') };
    const { rows } = await play({ llm: llm(), timeouts, tools });
    expect(rows[4]).toEqual({ type: 'tool_result', id: 'a', value: 'ok', error: null });
  });

  test('X13 a cancel wins over the limit: the call is abandoned, not timed out', async () => {
    const controller = new AbortController();
    void after(50).then(() => {
      controller.abort();
    });
    const { end, rows } = await play({
      llm: llm(),
      timeouts,
      tools: { echo: () => never() },
      signal: controller.signal,
    });
    expect(end).toEqual({ resolved: 'cancelled' });
    const error = 'cancelled before execution';
    expect(rows[4]).toMatchObject({ id: 'a', value: null, error, abandoned: true });
  });

  test('X13 a tool that cancels the turn when its limit runs out is abandoned', async () => {
    const controller = new AbortController();
    const echo: FakeTool = (_, { signal }) => {
      const stop = (): void => {
        controller.abort();
      };
      signal?.addEventListener('abort', stop, { once: true });
      return never();
    };
    const { signal } = controller;
    const { end, rows } = await play({ llm: llm(), timeouts, tools: { echo }, signal });
    expect(end).toEqual({ resolved: 'cancelled' });
    expect(rows[4]).toMatchObject({ id: 'a', abandoned: true });
  });

  test('X13 the limit is each call’s own, not the batch’s', async () => {
    const config = defaultAgentConfig({ max_parallel_tool_calls: 1 });
    const log = new FakeSessionLog();
    const tools = new FakeToolRegistry({ echo: () => after(80).then(() => 'ok') });
    const loop = createAgentLoop(config, { timeouts });
    const result = loop.runTurnOutcome(testContext({ llm: llm(), log, tools }), 'go');
    await runClock();
    expect(await result).toBe('completed');
    expect(log.rows.slice(4, 6)).toMatchObject([{ value: 'ok' }, { value: 'ok' }]);
  });
});

describe('X13 no limit', () => {
  test.each<[name: string, timeouts: TurnTimeouts | undefined]>([
    ['left out', undefined],
    ['no fields', {}],
    ['0', { streamIdleMs: 0, toolMs: 0 }],
    ['Infinity', { streamIdleMs: Infinity, toolMs: Infinity }],
    ['more than timers can count', { streamIdleMs: 2 ** 31, toolMs: 2 ** 31 }],
  ])('X13 %s: nothing is limited, and no timer runs', async (_, timeouts) => {
    const wait = (): Promise<void> => {
      expect(vi.getTimerCount()).toBe(0);
      return after(4_000);
    };
    const script = [wait, ...callTools(call('a'))];
    const llm = new ScriptedLlm([script, say('Hi.')]);
    const { end, took } = await play({ llm, timeouts, tools: { echo: wait } });
    expect([end, took]).toEqual([{ resolved: 'completed' }, 8_000]);
  });

  test('X13 X1 the timeouts of a turn replace the bound ones as a whole', async () => {
    const timeouts = { streamIdleMs: 50, toolMs: 50 };
    const loop = createAgentLoop(defaultAgentConfig(), { timeouts });
    const llm = new ScriptedLlm([callTools(call('a')), [() => after(90), ...say('Hi.')]]);
    const log = new FakeSessionLog();
    const tools = new FakeToolRegistry({ echo: () => after(90).then(() => 'slow') });
    const ctx = testContext({ llm, log, tools });
    const result = loop.runTurnOutcome(ctx, 'go', { timeouts: { streamIdleMs: 100 } });
    await runClock();
    expect(await result).toBe('completed');
    expect(log.rows[3]).toEqual({ type: 'tool_result', id: 'a', value: 'slow', error: null });
  });
});
