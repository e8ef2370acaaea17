import { describe, expect, test } from 'vitest';

import { createAgentLoop } from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  collectingSink,
  done,
  FakeSessionLog,
  FakeToolRegistry,
  Gate,
  say,
  ScriptedLlm,
  testContext,
  think,
  type Script,
} from '@celestea/agent-loop/testing';
import { defaultAgentConfig, type SessionEvent } from '@celestea/core';

import { call, quiet, settled } from './support/turn.ts';

const config = defaultAgentConfig({ max_parallel_tool_calls: 1 });

const scripts: Script[] = [
  [think('hm'), done('Let me look.', call('a'), call('b'))],
  callTools(call('c')),
  say('It is noon.'),
];

interface Hooks {
  onFlush?: (time: number) => unknown;
  onAppend?: (row: SessionEvent) => void;
  signal?: AbortSignal;
}

/** The turn above with everything it does in one list; a flush takes its time. */
function traced({ onFlush, onAppend, signal }: Hooks = {}) {
  const trace: string[] = [];
  let flushes = 0;
  const log = new FakeSessionLog({
    onAppend: (row) => {
      trace.push(row.type);
      onAppend?.(row);
    },
    onFlush: async () => {
      flushes += 1;
      trace.push('flush');
      await quiet(2);
      trace.push('flushed');
      await onFlush?.(flushes);
    },
  });
  const llm = new ScriptedLlm(scripts);
  const generate = llm.generate.bind(llm);
  llm.generate = (request, options) => {
    trace.push('generate');
    return generate(request, options);
  };
  const tools = new FakeToolRegistry({
    echo: (args, { input }) => {
      trace.push(`run ${input.call_id}`);
      return args;
    },
  });
  const { sink, events } = collectingSink();
  const loop = createAgentLoop(config, signal === undefined ? { sink } : { sink, signal });
  const ctx = testContext({ llm, log, tools });
  const result = settled(loop.runTurnOutcome(ctx, 'go')).then((end) => {
    trace.push('settled');
    return end;
  });
  return { trace, log, llm, events, tools, result, count: () => flushes };
}

test('X4 before each model call, between calls and tools, before the promise settles', async () => {
  const { trace, result } = traced();
  expect(await result).toEqual({ resolved: 'completed' });
  expect(trace).toEqual([
    ...['turn_start', 'user_message', 'flush', 'flushed', 'generate'],
    ...['thinking_delta', 'assistant_message', 'tool_call', 'tool_call', 'flush', 'flushed'],
    ...['run a', 'tool_result', 'run b', 'tool_result', 'flush', 'flushed', 'generate'],
    ...['tool_call', 'flush', 'flushed', 'run c', 'tool_result', 'flush', 'flushed', 'generate'],
    ...['assistant_message', 'turn_end', 'flush', 'flushed', 'settled'],
  ]);
});

test('X4 nothing goes on before the flush has settled', async () => {
  const gates = Array.from({ length: 6 }, () => new Gate());
  const { trace, result } = traced({ onFlush: (time) => gates[time - 1]?.wait() });
  const reached: (string | undefined)[] = [];
  for (const gate of gates) {
    await quiet(20);
    expect(gate.waiting).toBe(1);
    reached.push(trace.at(-1));
    expect(trace).not.toContain('settled');
    gate.open();
  }
  expect(await result).toEqual({ resolved: 'completed' });
  expect(reached).toEqual(Array(6).fill('flushed'));
});

test('X4 the events of a stream end after the last flush', async () => {
  const gate = new Gate();
  let flushes = 0;
  const log = new FakeSessionLog({
    onFlush: () => {
      flushes += 1;
      return flushes === 2 ? gate.wait() : undefined;
    },
  });
  const ctx = testContext({ llm: new ScriptedLlm([say('Hi.')]), log });
  const stream = createAgentLoop(config).streamTurn(ctx, 'go');
  const kinds: string[] = [];
  const reading = (async () => {
    for await (const { kind } of stream) kinds.push(kind);
    kinds.push('over');
  })();
  await quiet();
  expect(kinds).toEqual(['text', 'done', 'turn_end']);
  gate.open();
  await reading;
  expect(kinds).toEqual(['text', 'done', 'turn_end', 'over']);
});

describe('X4 a cancel does not skip it', () => {
  test.each<[row: SessionEvent['type'], expected: string[]]>([
    ['user_message', ['turn_start', 'user_message', 'turn_end', 'flush', 'flushed', 'settled']],
    [
      'tool_call',
      [
        ...['turn_start', 'user_message', 'flush', 'flushed', 'generate'],
        ...['thinking_delta', 'assistant_message', 'tool_call', 'tool_call', 'flush', 'flushed'],
        ...['tool_result', 'tool_result', 'turn_end', 'flush', 'flushed', 'settled'],
      ],
    ],
    [
      'tool_result',
      [
        ...['turn_start', 'user_message', 'flush', 'flushed', 'generate'],
        ...['thinking_delta', 'assistant_message', 'tool_call', 'tool_call', 'flush', 'flushed'],
        ...['run a', 'tool_result', 'tool_result', 'turn_end', 'flush', 'flushed', 'settled'],
      ],
    ],
  ])('X4 cancelled at the row %s', async (type, expected) => {
    const controller = new AbortController();
    const { trace, result } = traced({
      signal: controller.signal,
      onAppend: (row) => {
        if (row.type === type) controller.abort();
      },
    });
    expect(await result).toEqual({ resolved: 'cancelled' });
    expect(trace).toEqual(expected);
  });

  test.each([1, 2, 3, 4, 5, 6])('X4 cancelled in flush %i it is still waited for', async (at) => {
    const controller = new AbortController();
    const gate = new Gate();
    const { trace, log, result, count } = traced({
      signal: controller.signal,
      onFlush: (time) => {
        if (time !== at) return undefined;
        controller.abort();
        return gate.wait();
      },
    });
    await quiet(40);
    expect(trace.at(-1)).toBe('flushed');
    expect(count()).toBe(at);
    gate.open();
    expect(await result).toEqual({ resolved: at === 6 ? 'completed' : 'cancelled' });
    expect(count()).toBe(at === 6 ? 6 : at + 1);
    assertLogValid(log.rows);
  });
});

const diskFull = { error: { kind: 'generate', message: 'disk full' } };

describe('X4 a flush that rejects is a broken seam', () => {
  test.each([1, 2, 3, 4, 5, 6])('X4 L2.7 flush %i alone', async (at) => {
    const fault = new Error('disk full');
    const { log, llm, events, tools, result } = traced({
      onFlush: (time) => {
        if (time === at) throw fault;
      },
    });
    expect(await result).toStrictEqual({ error: fault });
    const outcome = at === 6 ? 'completed' : diskFull;
    assertLogValid(log.rows);
    expect(log.rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome });
    expect(log.rows.filter(({ type }) => type === 'turn_end')).toHaveLength(1);
    expect(events.filter(({ kind }) => kind === 'turn_end')).toEqual([
      { kind: 'turn_end', outcome },
    ]);
    expect(llm.requests).toHaveLength([0, 1, 1, 2, 2, 3][at - 1] ?? NaN);
    expect(tools.dispatched).toHaveLength([0, 0, 2, 2, 3, 3][at - 1] ?? NaN);
    const calls = log.rows.flatMap((row) => (row.type === 'tool_call' ? [row.id] : []));
    const results = log.rows.flatMap((row) => (row.type === 'tool_result' ? [row.id] : []));
    expect(calls).toHaveLength([0, 2, 2, 3, 3, 3][at - 1] ?? NaN);
    expect(results).toEqual(calls);
  });

  test.each([1, 2, 3, 4, 5, 6])('X4 L2.7 from flush %i on, each its own fault', async (from) => {
    const faults = Array.from({ length: 9 }, (_, index) => new Error(`fault ${String(index)}`));
    const { log, result } = traced({
      onFlush: (time) => {
        if (time >= from) throw faults[time] ?? new Error('too many');
      },
    });
    const end = await result;
    expect('error' in end && end.error).toBe(faults[from]);
    assertLogValid(log.rows);
  });

  test.each([1, 2])('X4 L2.7 flush %i that throws at once', async (at) => {
    const fault = new Error('disk full');
    let flushes = 0;
    const log = Object.assign(new FakeSessionLog(), {
      flush: (): Promise<void> => {
        flushes += 1;
        if (flushes === at) throw fault;
        return Promise.resolve();
      },
    });
    const ctx = testContext({ llm: new ScriptedLlm([say('Hi.')]), log });
    const end = await settled(createAgentLoop(config).runTurnOutcome(ctx, 'go'));
    expect('error' in end && end.error).toBe(fault);
    assertLogValid(log.rows);
  });

  test.each([undefined, null, 28, 'disk full'])('X4 L2.7 with %j, no Error', async (fault) => {
    const { log, result } = traced({
      // A log may reject with anything at all.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      onFlush: (time) => (time === 1 ? Promise.reject(fault) : undefined),
    });
    expect(await result).toStrictEqual({ error: fault });
    expect(log.rows.at(-1)).toEqual({
      type: 'turn_end',
      id: 'turn-0',
      outcome: { error: { kind: 'generate', message: String(fault) } },
    });
  });

  test('X4 L2.7 cancelled and rejecting: the fault is what the caller gets', async () => {
    const controller = new AbortController();
    const fault = new Error('disk full');
    const { log, result } = traced({
      signal: controller.signal,
      onFlush: (time) => {
        if (time !== 2) return;
        controller.abort();
        throw fault;
      },
    });
    const end = await result;
    expect('error' in end && end.error).toBe(fault);
    assertLogValid(log.rows);
    expect(log.rows.flatMap((row) => (row.type === 'tool_result' ? [row.error] : []))).toEqual([
      'cancelled before execution',
      'cancelled before execution',
    ]);
  });
});

test.each(['left out', 'undefined'])('X4 a log whose flush is %s works as before', async (how) => {
  const log = new FakeSessionLog();
  if (how === 'undefined') Object.assign(log, { flush: undefined });
  const tools = new FakeToolRegistry({ echo: (args) => args });
  const ctx = testContext({ llm: new ScriptedLlm(scripts), log, tools });
  expect(await createAgentLoop(config).runTurnOutcome(ctx, 'go')).toBe('completed');
  assertLogValid(log.rows);
});

/** An `append` whose promise fails so many promises later. */
const failing = (depth: number): Promise<never> =>
  depth === 0 ? Promise.reject(new Error('disk full')) : Promise.resolve().then(() => failing(depth - 1));

test.each(['user_message', 'assistant_message', 'turn_end'])(
  'X4 L2.7 an append that promises fails by and by, and the turn with it: %s',
  async (type) => {
    for (const depth of [0, 1, 3, 10]) {
      class PromisingLog extends FakeSessionLog {
        override append(row: SessionEvent): void {
          super.append(row);
          return (row.type === type ? failing(depth) : undefined) as unknown as undefined;
        }
      }
      const ctx = testContext({ llm: new ScriptedLlm([say('Hi.')]), log: new PromisingLog() });
      const turn = createAgentLoop(config).runTurnOutcome(ctx, 'go');
      await expect(turn).rejects.toThrow('disk full');
    }
  },
);
