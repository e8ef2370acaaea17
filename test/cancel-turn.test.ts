import { setImmediate } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { DefaultAgentLoop } from '@celestea/agent-loop';
import {
  assertLogValid,
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
  type Script,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  zeroUsage,
  type Llm,
  type LoopEvent,
  type SessionEvent,
} from '@celestea/core';
import { quiet } from './support/turn.ts';

const call = (id: string, name = 'echo') => ({ id, name, args: { of: id } });

/** Everything a turn can do: bursts, text, usage, two batches, two tool steps, a reply. */
const scripts: Script[] = [
  [
    think('fir'),
    think('st'),
    { kind: 'text', text: 'Let me look.' },
    { kind: 'usage', usage: zeroUsage() },
    think('then'),
    done('', call('a'), call('b'), call('c')),
    think('late'),
  ],
  [think('again'), done('', call('d', 'slow'), call('e'))],
  [think('so'), { kind: 'text', text: 'It is noon.' }, done('It is noon.'), think('end')],
];

const idsOf = (rows: readonly SessionEvent[], type: 'tool_call' | 'tool_result'): string[] =>
  rows.flatMap((row) => (row.type === type ? [row.id] : []));

interface Hooks {
  controller?: AbortController;
  onEvent?: (event: LoopEvent, index: number) => void;
  onAppend?: (row: SessionEvent, index: number) => void;
  tools?: Record<string, FakeTool>;
}

/** Runs the turn above, or one over another model, and checks what holds of every turn. */
async function play(hooks: Hooks, llm: Llm = new ScriptedLlm(scripts)) {
  const { controller = new AbortController(), onAppend, onEvent } = hooks;
  const log = new FakeSessionLog(onAppend === undefined ? {} : { onAppend });
  const slow: FakeTool = (args) => setImmediate(args);
  const tools = new FakeToolRegistry({ echo: (args) => args, slow, ...hooks.tools });
  const { sink, events } = collectingSink();
  const loop = new DefaultAgentLoop(defaultAgentConfig({ max_parallel_tool_calls: 2 }), {
    signal: controller.signal,
    sink: (event) => {
      sink(event);
      onEvent?.(event, events.length - 1);
    },
  });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  const rows = [...log.rows];
  const told = [...events];
  const dispatched = tools.dispatched.length;
  await quiet();
  expect(log.rows, 'nothing is written after the turn').toEqual(rows);
  expect(events, 'nothing is told after the turn').toEqual(told);
  expect(tools.dispatched, 'nothing is started after the turn').toHaveLength(dispatched);
  assertLogValid(rows);
  expect(idsOf(rows, 'tool_result'), 'one result a call').toEqual(idsOf(rows, 'tool_call'));
  expect(rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome });
  expect(events.at(-1)).toEqual({ kind: 'turn_end', outcome });
  return { outcome, rows, events, tools };
}

/** The kinds of the events, and the types of the rows, of the turn when nobody cancels it. */
const eventKinds = [
  ...['thinking', 'thinking', 'text', 'thinking', 'thinking', 'done'],
  ...['tool_call', 'tool_call', 'tool_call', 'tool_result', 'tool_result', 'tool_result'],
  ...['thinking', 'done', 'tool_call', 'tool_call', 'tool_result', 'tool_result'],
  ...['thinking', 'text', 'thinking', 'done', 'turn_end'],
];
const rowTypes = [
  ...['turn_start', 'user_message', 'thinking_delta', 'thinking_delta', 'thinking_delta'],
  ...['tool_call', 'tool_call', 'tool_call', 'tool_result', 'tool_result', 'tool_result'],
  ...['thinking_delta', 'tool_call', 'tool_call', 'tool_result', 'tool_result'],
  ...['thinking_delta', 'thinking_delta', 'assistant_message', 'turn_end'],
];
const lastDone = eventKinds.lastIndexOf('done');
const replyRow = rowTypes.indexOf('assistant_message');

/** Rows up to the first that tells of a cancelled call, or of the end. */
const untilCancel = (rows: readonly SessionEvent[]): SessionEvent[] => {
  const end = rows.findIndex(
    (row) => row.type === 'turn_end' || (row.type === 'tool_result' && row.error !== null),
  );
  return rows.slice(0, end);
};

describe('a turn that is cancelled', () => {
  test('L2.4 the turn below, when nobody cancels it', async () => {
    const { outcome, rows, events } = await play({});
    expect(outcome).toBe('completed');
    expect(events.map((event) => event.kind)).toEqual(eventKinds);
    expect(rows.map((row) => row.type)).toEqual(rowTypes);
  });

  test.each(eventKinds.map((kind, index) => ({ kind, index })))(
    'L2.5 L4.5 from the sink at event $index, $kind',
    async ({ index }) => {
      const whole = await play({});
      const controller = new AbortController();
      const { outcome, rows, events } = await play({
        controller,
        onEvent: (_, at) => {
          if (at === index) controller.abort();
        },
      });
      expect(outcome).toBe(index < lastDone ? 'cancelled' : 'completed');
      expect(events.slice(0, index + 1)).toEqual(whole.events.slice(0, index + 1));
      const kept = untilCancel(rows);
      expect(whole.rows.slice(0, kept.length)).toMatchObject(
        kept.map((row) => (row.type === 'thinking_delta' ? { type: row.type } : row)),
      );
      if (index < lastDone) expect(rows.map((row) => row.type)).not.toContain('assistant_message');
    },
  );

  test.each(rowTypes.map((type, index) => ({ type, index })))(
    'L2.5 L4.5 from the log at row $index, $type',
    async ({ index }) => {
      const whole = await play({});
      const controller = new AbortController();
      const { outcome, rows } = await play({
        controller,
        onAppend: (_, at) => {
          if (at === index) controller.abort();
        },
      });
      expect(outcome).toBe(index < replyRow ? 'cancelled' : 'completed');
      const kept = Math.min(index + 1, rowTypes.length - 1);
      expect(rows.slice(0, kept)).toEqual(whole.rows.slice(0, kept));
      if (index < replyRow) expect(rows.map((row) => row.type)).not.toContain('assistant_message');
    },
  );

  test('L2.5 before it begins: both opening rows, the end, and no request', async () => {
    const controller = new AbortController();
    controller.abort();
    const llm = new ScriptedLlm(scripts);
    let derived = 0;
    const log = new FakeSessionLog({ onDerive: () => (derived += 1) });
    const { sink, events } = collectingSink();
    const bindings = { sink, signal: controller.signal };
    const loop = new DefaultAgentLoop(defaultAgentConfig(), bindings);
    expect(await loop.runTurnOutcome(testContext({ llm, log }), 'go')).toBe('cancelled');
    expect(log.rows).toEqual([
      { type: 'turn_start', id: 'turn-0' },
      { type: 'user_message', text: 'go' },
      { type: 'turn_end', id: 'turn-0', outcome: 'cancelled' },
    ]);
    expect(events).toEqual([{ kind: 'turn_end', outcome: 'cancelled' }]);
    expect(llm.requests).toEqual([]);
    expect(derived).toBe(0);
  });

  test('L2.5 after it ended: nothing changes', async () => {
    const controller = new AbortController();
    const { outcome, rows } = await play({ controller });
    const before = [...rows];
    controller.abort();
    await quiet();
    expect(outcome).toBe('completed');
    expect(rows).toEqual(before);
  });

  test('L2.5 the signal belongs to the caller: the loop never fires it', async () => {
    const controller = new AbortController();
    await play({ controller }, new ScriptedLlm([[{ kind: 'interrupted' }]]));
    expect(controller.signal.aborted).toBe(false);
  });
});

describe('work that ignores the signal', () => {
  test('L2.5 a generate that hangs does not keep the turn', async () => {
    const controller = new AbortController();
    const running = play({ controller }, new HangingLlm());
    await quiet();
    controller.abort();
    const { outcome, rows } = await running;
    expect(outcome).toBe('cancelled');
    expect(rows).toHaveLength(3);
  });

  test('L3.5 a stream that hangs does not keep the turn', async () => {
    const controller = new AbortController();
    const llm = new HangingLlm([think('hm'), { kind: 'text', text: 'so' }, ...say('never')]);
    const running = play({ controller }, llm);
    await quiet();
    controller.abort();
    const { outcome, rows } = await running;
    expect(outcome).toBe('cancelled');
    expect(rows.slice(2, -1)).toEqual([{ type: 'thinking_delta', text: 'hm' }]);
    expect(llm.closed).toBe(1);
  });

  test.each([0, 1, 2])('L4.5 deaf tools do not keep the turn: call %i of three', async (deaf) => {
    const controller = new AbortController();
    const names = ['echo', 'echo', 'echo'].map((name, index) => (index === deaf ? 'deaf' : name));
    const calls = names.map((name, index) => call(`c${String(index)}`, name));
    const tools = { deaf: () => new Promise(() => undefined) };
    const running = play({ controller, tools }, new ScriptedLlm([[done('', ...calls)]]));
    await quiet();
    controller.abort();
    const { outcome, rows, tools: registry } = await running;
    expect(outcome).toBe('cancelled');
    const results = rows.filter((row) => row.type === 'tool_result');
    expect(results.map((row) => row.id)).toEqual(['c0', 'c1', 'c2']);
    expect(results[deaf]).toMatchObject({ value: null, error: 'cancelled before execution' });
    expect(registry.dispatched).toHaveLength(deaf < 2 ? 2 : 3);
  });

  test('L4.5 a tool that rejects because of the cancel is not unhandled', async () => {
    const controller = new AbortController();
    let heard = 0;
    const obedient: FakeTool = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener(
          'abort',
          () => {
            heard += 1;
            reject(new Error('stopped'));
          },
          { once: true },
        );
      });
    const llm = new ScriptedLlm([[done('', call('a', 'obedient'), call('b', 'obedient'))]]);
    const running = play({ controller, tools: { obedient } }, llm);
    await quiet();
    controller.abort();
    expect((await running).outcome).toBe('cancelled');
    expect(heard).toBe(2);
  });
});
