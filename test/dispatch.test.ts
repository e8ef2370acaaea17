import { setImmediate } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { CANCELLED_BEFORE_EXECUTION, DefaultAgentLoop } from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  collectingSink,
  FakeSessionLog,
  FakeToolRegistry,
  Gate,
  say,
  ScriptedLlm,
  testContext,
  type FakeTool,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  messageTexts,
  type LoopEvent,
  type SessionEvent,
  type ToolCall,
} from '@celestea/core';
import { quiet } from './support/turn.ts';

const call = (id: string, name = 'echo') => ({ id, name, args: { of: id } });

interface Setup {
  tools: Record<string, FakeTool>;
  width?: number;
  onEvent?: (event: LoopEvent) => void;
  onAppend?: (row: SessionEvent) => void;
}

/** A turn that calls tools and then answers; `running` is its outcome. */
function start(calls: ToolCall[], setup: Setup) {
  const controller = new AbortController();
  const { onAppend, width = 4 } = setup;
  const log = new FakeSessionLog(onAppend === undefined ? {} : { onAppend });
  const tools = new FakeToolRegistry(setup.tools);
  const llm = new ScriptedLlm([callTools(...calls), say('hi')]);
  const { sink, events } = collectingSink();
  const loop = new DefaultAgentLoop(defaultAgentConfig({ max_parallel_tool_calls: width }), {
    signal: controller.signal,
    sink: (event) => {
      sink(event);
      setup.onEvent?.(event);
    },
  });
  const running = loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  const stop = () => {
    controller.abort();
  };
  return { running, log, tools, llm, events, stop };
}

const started = (tools: FakeToolRegistry): string[] =>
  tools.dispatched.map((input) => input.call_id);
const results = (log: FakeSessionLog) => log.rows.filter((row) => row.type === 'tool_result');
const told = (events: readonly LoopEvent[]) =>
  events.filter((event) => event.kind === 'tool_result');
const ok = (id: string, value: unknown) => ({ type: 'tool_result', id, value, error: null });
const cancelled = (id: string) => ({
  type: 'tool_result',
  id,
  value: null,
  error: CANCELLED_BEFORE_EXECUTION,
});
const cancelledEvent = (callId: string) => ({
  kind: 'tool_result',
  callId,
  ok: false,
  value: null,
  render: null,
  error: 'cancelled before execution',
  decision: null,
});

describe('running the calls of a step', () => {
  test('L4.4 a row has the fields that are needed, and no empty ones', async () => {
    const rows: SessionEvent[] = [];
    const turn = start([{ ...call('a'), meta: 'signature' }, call('b')], {
      tools: { echo: () => 1 },
      onAppend: (row) => void rows.push(row),
    });
    await turn.running;
    expect(rows.slice(2, 6)).toStrictEqual([
      { type: 'tool_call', id: 'a', name: 'echo', args: { of: 'a' }, meta: 'signature' },
      { type: 'tool_call', id: 'b', name: 'echo', args: { of: 'b' } },
      { type: 'tool_result', id: 'a', value: 1, error: null },
      { type: 'tool_result', id: 'b', value: 1, error: null },
    ]);
  });

  test('L4.4 all tool_call rows and events first, in the order of the model', async () => {
    const atFirst: { rows: string[]; events: string[] }[] = [];
    const turn = start([call('b'), call('a'), call('c')], {
      width: 1,
      tools: {
        echo: () => {
          atFirst.push({
            rows: turn.log.rows.map((row) => row.type),
            events: turn.events.map((event) => event.kind),
          });
        },
      },
    });
    await turn.running;
    expect(atFirst[0]).toEqual({
      rows: ['turn_start', 'user_message', 'tool_call', 'tool_call', 'tool_call'],
      events: ['done', 'tool_call', 'tool_call', 'tool_call'],
    });
    expect(turn.log.rows.slice(2, 5)).toEqual([
      { type: 'tool_call', id: 'b', name: 'echo', args: { of: 'b' } },
      { type: 'tool_call', id: 'a', name: 'echo', args: { of: 'a' } },
      { type: 'tool_call', id: 'c', name: 'echo', args: { of: 'c' } },
    ]);
    expect(turn.events.slice(1, 4)).toEqual([
      { kind: 'tool_call', id: 'b', name: 'echo', args: { of: 'b' } },
      { kind: 'tool_call', id: 'a', name: 'echo', args: { of: 'a' } },
      { kind: 'tool_call', id: 'c', name: 'echo', args: { of: 'c' } },
    ]);
    expect(started(turn.tools)).toEqual(['b', 'a', 'c']);
  });

  test('L4.4 results stand in the order of the model, however they settle', async () => {
    const gates = { a: new Gate(), b: new Gate(), c: new Gate() };
    const turn = start([call('a', 'a'), call('b', 'b'), call('c', 'c')], {
      tools: {
        a: () => gates.a.wait().then(() => 1),
        b: () => gates.b.wait().then(() => 2),
        c: () => gates.c.wait().then(() => 3),
      },
    });
    for (const gate of [gates.c, gates.b, gates.a]) {
      await quiet();
      expect(results(turn.log), 'nothing is written before the batch is whole').toEqual([]);
      gate.open();
    }
    expect(await turn.running).toBe('completed');
    expect(turn.tools.settled).toEqual(['c', 'b', 'a']);
    expect(results(turn.log)).toEqual([ok('a', 1), ok('b', 2), ok('c', 3)]);
    expect(told(turn.events).map((event) => event.callId)).toEqual(['a', 'b', 'c']);
    assertLogValid(turn.log.rows);
  });

  test.each([
    { width: 1, most: 1 },
    { width: 2, most: 2 },
    { width: 2.9, most: 2 },
    { width: 5, most: 5 },
    { width: 100, most: 5 },
    { width: Infinity, most: 5 },
    { width: 0, most: 1 },
    { width: 0.9, most: 1 },
    { width: -3, most: 1 },
    { width: NaN, most: 1 },
  ])('L4.4 max_parallel_tool_calls $width: at most $most at a time', async ({ width, most }) => {
    const turn = start(['a', 'b', 'c', 'd', 'e'].map((id) => call(id)), {
      width,
      tools: { echo: () => setImmediate('done') },
    });
    expect(await turn.running).toBe('completed');
    expect(turn.tools.maxConcurrent).toBe(most);
    expect(results(turn.log)).toHaveLength(5);
  });

  test('L4.4 a batch starts when the one before it is whole', async () => {
    const gate = new Gate();
    const turn = start([call('a'), call('slow', 'slow'), call('c'), call('d'), call('e')], {
      width: 2,
      tools: { echo: (args) => args, slow: () => gate.wait() },
    });
    await quiet();
    expect(turn.tools.settled).toEqual(['a']);
    expect(started(turn.tools)).toEqual(['a', 'slow']);
    gate.open();
    await turn.running;
    expect(started(turn.tools)).toEqual(['a', 'slow', 'c', 'd', 'e']);
    expect(turn.tools.maxConcurrent).toBe(2);
  });

  test('L4.4 then the next step, which sees every result', async () => {
    const turn = start([call('a'), call('b', 'bad')], {
      tools: {
        echo: (args) => args,
        bad: () => {
          throw new Error('no disk');
        },
      },
    });
    expect(await turn.running).toBe('completed');
    const shown = turn.llm.requests[1]?.messages.map((message) => [
      message.role,
      message.tool_call_id,
      ...messageTexts(message),
    ]);
    expect(shown).toEqual([
      ['user', null, 'go'],
      ['assistant', null],
      ['tool', 'a', '{"of":"a"}'],
      ['tool', 'b', 'Error: no disk'],
    ]);
  });

  test('L4.4 a dispatch is handed the id, the name and the very arguments', async () => {
    const args = { deep: [1, null, 'x'] };
    const seen: unknown[] = [];
    const echo: FakeTool = (got) => seen.push(got);
    const turn = start([{ id: 'a', name: 'echo', args }], { tools: { echo } });
    await turn.running;
    expect(turn.tools.dispatched).toEqual([{ call_id: 'a', name: 'echo', args }]);
    expect(seen[0]).toBe(args);
  });
});

describe('a cancel while calls are in flight', () => {
  test('L4.5 every call without a result gets one, row and event, before turn_end', async () => {
    const turn = start([call('a'), call('b', 'deaf'), call('c'), call('d')], {
      width: 2,
      tools: { echo: (args) => args, deaf: () => new Promise(() => undefined) },
    });
    await quiet();
    expect(turn.tools.settled).toEqual(['a']);
    turn.stop();
    expect(await turn.running).toBe('cancelled');
    expect(turn.log.rows.slice(6)).toMatchObject([
      ok('a', { of: 'a' }),
      cancelled('b'),
      cancelled('c'),
      cancelled('d'),
      { type: 'turn_end', id: 'turn-0', outcome: 'cancelled' },
    ]);
    expect(turn.events.slice(-5)).toMatchObject([
      { kind: 'tool_result', callId: 'a', ok: true, value: { of: 'a' }, error: null },
      cancelledEvent('b'),
      cancelledEvent('c'),
      cancelledEvent('d'),
      { kind: 'turn_end', outcome: 'cancelled' },
    ]);
    expect(started(turn.tools)).toEqual(['a', 'b']);
    expect(turn.llm.requests).toHaveLength(1);
    assertLogValid(turn.log.rows);
  });

  test('L4.5 a call that had settled keeps its result, in the order of the model', async () => {
    const turn = start([call('a', 'deaf'), call('b'), call('c', 'bad')], {
      tools: {
        echo: (args) => args,
        deaf: () => new Promise(() => undefined),
        bad: () => Promise.reject(new Error('no disk')),
      },
    });
    await quiet();
    turn.stop();
    await turn.running;
    expect(results(turn.log)).toMatchObject([
      cancelled('a'),
      ok('b', { of: 'b' }),
      { type: 'tool_result', id: 'c', value: null, error: 'no disk' },
    ]);
    expect(told(turn.events).map((event) => [event.callId, event.ok])).toEqual([
      ['a', false],
      ['b', true],
      ['c', false],
    ]);
  });

  test.each(['resolves', 'rejects'])('L4.5 a tool that %s later writes nothing', async (how) => {
    const gate = new Gate();
    const turn = start([call('a', 'late')], {
      tools: {
        late: async () => {
          await gate.wait();
          if (how === 'rejects') throw new Error('too late');
          return 'too late';
        },
      },
    });
    await quiet();
    turn.stop();
    expect(await turn.running).toBe('cancelled');
    const rows = [...turn.log.rows];
    const events = [...turn.events];
    gate.open();
    await quiet();
    expect(turn.tools.settled).toEqual(['a']);
    expect(turn.log.rows).toEqual(rows);
    expect(turn.events).toEqual(events);
    expect(results(turn.log)).toMatchObject([cancelled('a')]);
  });

  test('L4.5 no dispatch starts after a tool of the same batch fired the signal', async () => {
    const turn = start([call('a', 'stop'), call('b'), call('c')], {
      tools: {
        echo: (args) => args,
        stop: () => {
          turn.stop();
          return new Promise(() => undefined);
        },
      },
    });
    expect(await turn.running).toBe('cancelled');
    expect(started(turn.tools)).toEqual(['a']);
    expect(results(turn.log)).toMatchObject(['a', 'b', 'c'].map(cancelled));
  });

  test('L4.5 nor between two batches; what never started carries nothing else', async () => {
    const turn = start([call('a'), call('b'), call('c')], {
      width: 1,
      tools: { echo: (args) => args },
      onEvent: (event) => {
        if (event.kind === 'tool_result' && event.callId === 'a') turn.stop();
      },
    });
    expect(await turn.running).toBe('cancelled');
    expect(started(turn.tools)).toEqual(['a']);
    expect(results(turn.log)).toEqual([ok('a', { of: 'a' }), cancelled('b'), cancelled('c')]);
    expect(told(turn.events).slice(1)).toEqual([cancelledEvent('b'), cancelledEvent('c')]);
  });

  test.each(['done', 'tool_call'])('L4.5 cancelled at the first %s event', async (kind) => {
    const turn = start([call('a'), call('b')], {
      tools: { echo: (args) => args },
      onEvent: (event) => {
        if (event.kind === kind) turn.stop();
      },
    });
    expect(await turn.running).toBe('cancelled');
    expect(turn.tools.dispatched).toEqual([]);
    expect(turn.log.rows.slice(2)).toEqual([
      { type: 'tool_call', id: 'a', name: 'echo', args: { of: 'a' } },
      { type: 'tool_call', id: 'b', name: 'echo', args: { of: 'b' } },
      cancelled('a'),
      cancelled('b'),
      { type: 'turn_end', id: 'turn-0', outcome: 'cancelled' },
    ]);
  });

  test('L4.5 a batch that was whole before the cancel keeps all its results', async () => {
    const turn = start([call('a'), call('b'), call('c')], {
      width: 2,
      tools: { echo: (args) => args },
      onAppend: (row) => {
        if (row.type === 'tool_result' && row.id === 'a') turn.stop();
      },
    });
    expect(await turn.running).toBe('cancelled');
    expect(results(turn.log)).toEqual([
      ok('a', { of: 'a' }),
      ok('b', { of: 'b' }),
      cancelled('c'),
    ]);
  });
});
