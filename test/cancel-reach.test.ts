import { describe, expect, test } from 'vitest';

import { createAgentLoop, type AgentLoopBindings } from '@celestea/agent-loop';
import {
  callTools,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  think,
  type FakeTool,
  type Script,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  type GenerateOptions,
  type Llm,
  type LlmStream,
  type StreamEvent,
} from '@celestea/core';

import { call, quiet, rawRegistry } from './support/turn.ts';

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** With and without the limits that put a signal of their own in between (X13). */
const limits: [name: string, bindings: AgentLoopBindings][] = [
  ['no limits', {}],
  ['limits', { timeouts: { streamIdleMs: 60_000, toolMs: 60_000 } }],
];

/** Hands over what `generate` and `dispatch` were given, and hangs where it is told. */
function observed(hangs: 'generate' | 'stream' | 'tool' | null, scripts: readonly Script[]) {
  const given: { generate: unknown[]; dispatch: unknown[] } = { generate: [], dispatch: [] };
  const script = new ScriptedLlm(scripts);
  const llm: Llm = {
    generate: (request, options): Promise<LlmStream> => {
      given.generate.push(options);
      if (hangs === 'generate') return never<LlmStream>();
      if (hangs !== 'stream') return script.generate(request);
      const next = () => never<IteratorResult<StreamEvent>>();
      return Promise.resolve({ [Symbol.asyncIterator]: () => ({ next }) });
    },
  };
  const tools = rawRegistry((input, options) => {
    given.dispatch.push(options);
    if (hangs === 'tool') return never();
    const { call_id, args: value } = input;
    return Promise.resolve({ call_id, value, render: null, error: null, decision: null });
  });
  const log = new FakeSessionLog();
  return { given, log, ctx: testContext({ llm, tools, log }) };
}

const signalsOf = (options: unknown[]): (AbortSignal | undefined)[] =>
  options.map((option) => (option as GenerateOptions | undefined)?.signal);

const twoSteps: Script[] = [callTools(call('a'), call('b')), say('Hi.')];

describe.each(limits)('X2 the signal that work is handed, with %s', (_, bindings) => {
  test('X2 each generate and dispatch gets one, whether a caller has a signal or not', async () => {
    for (const signal of [undefined, new AbortController().signal]) {
      const { given, ctx } = observed(null, twoSteps);
      const loop = createAgentLoop(defaultAgentConfig(), { ...bindings, signal });
      expect(await loop.runTurnOutcome(ctx, 'go')).toBe('completed');
      const signals = [...signalsOf(given.generate), ...signalsOf(given.dispatch)];
      expect(signals).toHaveLength(4);
      for (const one of signals) expect(one).toBeInstanceOf(AbortSignal);
      expect(signals.map((one) => one?.aborted)).toEqual([false, false, false, false]);
    }
  });

  test.each(['generate', 'stream', 'tool'] as const)(
    'X2 it aborts at once and with the reason of the caller, in a hanging %s',
    async (hangs) => {
      const reason = { why: 'the user pressed stop' };
      const controller = new AbortController();
      const { given, ctx } = observed(hangs, twoSteps);
      const loop = createAgentLoop(defaultAgentConfig(), bindings);
      const running = loop.runTurnOutcome(ctx, 'go', { signal: controller.signal });
      await quiet();
      const signals = signalsOf(hangs === 'tool' ? given.dispatch : given.generate);
      expect(signals).toHaveLength(hangs === 'tool' ? 2 : 1);
      for (const one of signals) expect(one?.aborted).toBe(false);
      controller.abort(reason);
      for (const one of signals) expect(one?.reason).toBe(reason);
      expect(await running).toBe('cancelled');
    },
  );

  test.each(['generate', 'stream', 'tool'] as const)(
    'X2 it aborts whoever else listens to the caller’s signal, in a hanging %s',
    async (hangs) => {
      const controllers = [new AbortController(), new AbortController()];
      for (const cancelled of controllers) {
        const heard: string[] = [];
        const listen = (who: string): void => {
          cancelled.signal.addEventListener('abort', () => heard.push(who), { once: true });
        };
        listen('before');
        const { given, ctx } = observed(hangs, twoSteps);
        const other = controllers.find((one) => one !== cancelled);
        const loop = createAgentLoop(defaultAgentConfig(), { ...bindings, signal: other?.signal });
        const running = loop.runTurnOutcome(ctx, 'go', { signal: cancelled.signal });
        listen('after');
        await quiet();
        cancelled.abort('stop');
        expect(await running).toBe('cancelled');
        const signals = signalsOf(hangs === 'tool' ? given.dispatch : given.generate);
        expect(signals.map((one): unknown => one?.reason)).toEqual(signals.map(() => 'stop'));
        expect(heard).toEqual(['before', 'after']);
      }
    },
  );

  test.each<[name: string, scripts: Script[], outcome: unknown]>([
    ['completed', twoSteps, 'completed'],
    ['failed', [[{ kind: 'interrupted' }]], 'interrupted'],
    ['broken', [[think('x'), () => Promise.reject(new Error('torn'))]], expect.any(Object)],
    ['step limit', [callTools(call('a')), callTools(call('b'))], 'step_limit'],
  ])('X2 it never aborts after a turn that ended: %s', async (_name, scripts, outcome) => {
    const controller = new AbortController();
    const { given, ctx } = observed(null, scripts);
    const config = defaultAgentConfig({ max_steps: 2 });
    const loop = createAgentLoop(config, { ...bindings, signal: controller.signal });
    expect(await loop.runTurnOutcome(ctx, 'go')).toEqual(outcome);
    controller.abort(new Error('too late'));
    await quiet();
    const signals = [...signalsOf(given.generate), ...signalsOf(given.dispatch)];
    expect(signals.length).toBeGreaterThan(0);
    for (const one of signals) expect(one?.aborted).toBe(false);
  });

  test('X2 a cancel from the sink at the turn_end comes too late for it', async () => {
    const controller = new AbortController();
    const { given, ctx } = observed(null, twoSteps);
    const loop = createAgentLoop(defaultAgentConfig(), {
      ...bindings,
      signal: controller.signal,
      sink: ({ kind }) => {
        if (kind === 'turn_end') controller.abort();
      },
    });
    expect(await loop.runTurnOutcome(ctx, 'go')).toBe('completed');
    const signals = [...signalsOf(given.generate), ...signalsOf(given.dispatch)];
    expect(signals.map((one) => one?.aborted)).toEqual([false, false, false, false]);
  });

  test('X2 the next turn of the same caller’s signal gets a signal of its own', async () => {
    const { signal } = new AbortController();
    const { given, ctx } = observed(null, [say('one'), say('two')]);
    const loop = createAgentLoop(defaultAgentConfig(), { ...bindings, signal });
    await loop.runTurn(ctx, 'go');
    await loop.runTurn(ctx, 'go');
    const [first, second] = signalsOf(given.generate);
    expect(first).not.toBe(second);
    expect([first, second]).not.toContain(signal);
  });
});

const threeCalls: Script[] = [callTools(call('a'), call('b'), call('c')), say('never')];

/** A turn of three calls, cancelled somewhere by `hooks`. */
async function playCalls(
  width: number,
  hooks: (cancel: () => void) => { echo?: FakeTool; log?: FakeSessionLog } & AgentLoopBindings,
) {
  const controller = new AbortController();
  const { echo, log = new FakeSessionLog(), ...bindings } = hooks(() => {
    controller.abort();
  });
  const tools = new FakeToolRegistry({ echo: echo ?? ((args) => args) });
  const llm = new ScriptedLlm(threeCalls);
  const config = defaultAgentConfig({ max_parallel_tool_calls: width });
  const loop = createAgentLoop(config, { ...bindings, signal: controller.signal });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  await quiet();
  expect(outcome).toBe('cancelled');
  expect(llm.requests).toHaveLength(1);
  return tools.dispatched.map(({ call_id }) => call_id);
}

describe('X2 between two calls of a batch limited to one', () => {
  test.each<[string, (cancel: () => void) => Parameters<typeof playCalls>[1]]>([
    ['a tool, before it waits', () => (cancel) => ({ echo: cancel })],
    [
      'a tool, after it waited',
      () => (cancel) => ({ echo: () => quiet(1).then(cancel) }),
    ],
    [
      'the sink, at the result',
      () => (cancel) => ({
        sink: ({ kind }) => {
          if (kind === 'tool_result') cancel();
        },
      }),
    ],
    [
      'the log, at the result',
      () => (cancel) => ({
        log: new FakeSessionLog({
          onAppend: ({ type }) => {
            if (type === 'tool_result') cancel();
          },
        }),
      }),
    ],
  ])('X2 a cancel in %s starts no further tool', async (_, hooks) => {
    expect(await playCalls(1, hooks(() => undefined))).toEqual(['a']);
  });

  test('X2 in a wider batch too: a tool that cancels is the last one started', async () => {
    const hooks = (cancel: () => void) => ({ echo: cancel });
    expect(await playCalls(3, hooks)).toEqual(['a']);
    expect(await playCalls(2, hooks)).toEqual(['a']);
  });

  test('X2 a cancel after the calls were recorded starts none', async () => {
    let flushes = 0;
    const started = await playCalls(1, (cancel) => ({
      log: new FakeSessionLog({
        onFlush: () => {
          flushes += 1;
          if (flushes === 2) cancel();
        },
      }),
    }));
    expect(started).toEqual([]);
  });
});

/** Each place of a step before its `generate` that can cancel; counted from 0 per turn. */
const places = ['derive', 'schemas', 'flush', 'policy', 'prepareStep', 'drain'] as const;
type Place = (typeof places)[number];

async function cancelledAt(place: Place, at: number, asynchronous: boolean) {
  const controller = new AbortController();
  const seen = new Map<Place, number>();
  const pass = (here: Place): void => {
    const count = seen.get(here) ?? 0;
    seen.set(here, count + 1);
    if (here === place && count === at) controller.abort();
  };
  const later = async (here: Place): Promise<undefined> => {
    if (asynchronous) await quiet(1);
    pass(here);
    return undefined;
  };
  const log = new FakeSessionLog({
    onDerive: () => {
      pass('derive');
    },
    onFlush: () => later('flush'),
  });
  const tools = new FakeToolRegistry({ echo: (args) => args });
  const schemas = tools.schemas.bind(tools);
  tools.schemas = () => {
    pass('schemas');
    return schemas();
  };
  const llm = new ScriptedLlm(twoSteps);
  const loop = createAgentLoop(defaultAgentConfig(), {
    signal: controller.signal,
    contextPolicy: async ({ messages }) => {
      await later('policy');
      const outcome = { removedMessages: 0, removedTokens: 0, trimmed: false };
      return { messages: [...messages], outcome };
    },
    prepareStep: () => later('prepareStep'),
    injections: {
      drain: () => {
        pass('drain');
        return [];
      },
    },
  });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  await quiet();
  return { outcome, requests: llm.requests.length, seen };
}

describe('X2 after a cancel no further generate is made', () => {
  for (const asynchronous of [false, true]) {
    test.each(places)(`X2 cancelled in %s, ${asynchronous ? 'late' : 'at once'}`, async (place) => {
      const first = await cancelledAt(place, 0, asynchronous);
      expect(first).toMatchObject({ outcome: 'cancelled', requests: 0 });
      const second = await cancelledAt(place, place === 'flush' ? 2 : 1, asynchronous);
      expect(second).toMatchObject({ outcome: 'cancelled', requests: 1 });
    });
  }

  test.each(['policy', 'prepareStep'])('X2 a hanging %s keeps no cancelled turn', async (where) => {
    const controller = new AbortController();
    const llm = new ScriptedLlm(twoSteps);
    const loop = createAgentLoop(defaultAgentConfig(), {
      signal: controller.signal,
      ...(where === 'policy' ? { contextPolicy: () => never() } : { prepareStep: () => never() }),
    });
    const running = loop.runTurnOutcome(testContext({ llm }), 'go');
    await quiet();
    controller.abort();
    expect(await running).toBe('cancelled');
    expect(llm.requests).toEqual([]);
  });

  test('X2 a context policy is handed the signal of the turn', async () => {
    const reason = new Error('stop');
    const controller = new AbortController();
    const given: AbortSignal[] = [];
    const loop = createAgentLoop(defaultAgentConfig(), {
      signal: controller.signal,
      contextPolicy: ({ signal }) => {
        given.push(signal);
        return never();
      },
    });
    const running = loop.runTurnOutcome(testContext({ llm: new ScriptedLlm([]) }), 'go');
    await quiet();
    controller.abort(reason);
    expect(await running).toBe('cancelled');
    expect(given.map((signal): unknown => signal.reason)).toEqual([reason]);
  });
});

test.each(limits)('L3.6 a stream is closed when its signal has aborted, with %s', async (_, bindings) => {
  const cancel = new AbortController();
  const seen: (boolean | undefined)[] = [];
  const llm: Llm = {
    generate: (_request, options) => {
      const signal = options?.signal;
      const iterator: AsyncIterator<StreamEvent> = {
        next: () => {
          cancel.abort();
          return never();
        },
        return: () => {
          seen.push(signal?.aborted);
          return Promise.resolve({ done: true, value: undefined });
        },
      };
      return Promise.resolve({ [Symbol.asyncIterator]: () => iterator });
    },
  };
  const loop = createAgentLoop(defaultAgentConfig(), bindings);
  const outcome = await loop.runTurnOutcome(testContext({ llm }), 'go', { signal: cancel.signal });
  expect(outcome).toBe('cancelled');
  expect(seen).toEqual([true]);
});
