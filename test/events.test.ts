import {
  defaultAgentConfig,
  type LoopEvent,
  type Message,
  type SessionEvent,
  type ToolOutput,
} from '@celestea/core';
import { expect, test } from 'vitest';

import {
  decisionLabel,
  doneEvent,
  toolCallEvent,
  toolResultEvent,
  turnEndEvent,
} from '../src/events.ts';
import { createAgentLoop } from '../src/plugin.ts';
import {
  callTools,
  collectingSink,
  done,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  think,
} from '../src/testing/index.ts';

const output = (fields: Partial<ToolOutput>): ToolOutput => ({
  call_id: 'c1',
  value: null,
  render: null,
  error: null,
  decision: null,
  ...fields,
});

test.each<[string, Partial<ToolOutput>, Partial<LoopEvent>]>([
  ['a success', { value: { n: 1 }, render: 'one' }, { ok: true, value: { n: 1 }, render: 'one' }],
  ['a failure', { error: 'no file' }, { ok: false, error: 'no file' }],
  ['an empty error is still one', { error: '' }, { ok: false, error: '' }],
  ['a failure with a value', { value: 3, error: 'late' }, { ok: false, value: 3, error: 'late' }],
  ['allowed', { decision: { kind: 'allow' } }, { ok: true, decision: 'allow' }],
  [
    'denied',
    { error: 'no', decision: { kind: 'deny', reason: 'policy' } },
    { ok: false, error: 'no', decision: 'deny' },
  ],
  [
    'asked',
    { error: 'no', decision: { kind: 'ask', reason: 'risky' } },
    { ok: false, error: 'no', decision: 'ask' },
  ],
])('L7.1 a result event carries the whole output: %s', (_, fields, expected) => {
  const empty = { value: null, render: null, error: null, decision: null };
  expect(toolResultEvent(output(fields))).toEqual({
    kind: 'tool_result',
    callId: 'c1',
    ...empty,
    ...expected,
  });
});

const omitted = {
  ...{ kind: 'omitted', omitted_bytes: 7, total_bytes: 10, head_bytes: 2, tail_bytes: 1 },
  ...{ locator: '/tmp/r1', retrieval_hint: 'Read it.' },
} as const;
const digits = '0123456789';
const boxed: unknown = Object(digits);
const view = '01\n[7 of 10 bytes left out; the whole result is at /tmp/r1. Read it.]\n9';

test.each<[string, Pick<ToolOutput, 'value' | 'surface'>, unknown]>([
  ['a text with its middle left out', { value: digits, surface: omitted }, view],
  ['a text of another size', { value: `${digits}0`, surface: omitted }, `${digits}0`],
  ['a truncated text', { value: digits, surface: { kind: 'truncation', note: 'Cut.' } }, digits],
  ['what only behaves like a text', { value: boxed, surface: omitted }, boxed],
  ['a number', { value: 7, surface: omitted }, 7],
  ['nothing', { value: null, surface: omitted }, null],
])('X12 a sink is shown %s', (_, fields, shown) => {
  expect(toolResultEvent(output(fields)).value).toBe(shown);
});

test('L7.1 the label of a decision is flat', () => {
  expect(decisionLabel(null)).toBeNull();
  expect(decisionLabel({ kind: 'allow' })).toBe('allow');
  expect(decisionLabel({ kind: 'deny', reason: 'no' })).toBe('deny');
  expect(decisionLabel({ kind: 'ask', reason: 'may I' })).toBe('ask');
});

test('L7.1 a done event has the joined text and id, name and args of each call alone', () => {
  const extra = { id: 'c1', name: 'time', args: { zone: 'UTC' }, index: 0 };
  const message: Message = {
    role: 'assistant',
    content: [
      { type: 'text', content: 'Let me ' },
      { type: 'tool_call', content: extra },
      { type: 'text', content: 'see.' },
      { type: 'tool_call', content: { id: 'c2', name: 'add', args: [1, 2] } },
    ],
    tool_call_id: null,
  };
  expect(doneEvent(message)).toEqual({
    kind: 'done',
    text: 'Let me see.',
    tool_calls: [
      { id: 'c1', name: 'time', args: { zone: 'UTC' } },
      { id: 'c2', name: 'add', args: [1, 2] },
    ],
  });
  expect(doneEvent({ role: 'assistant', content: [], tool_call_id: null })).toEqual({
    kind: 'done',
    text: '',
    tool_calls: [],
  });
});

test('L7.1 a call event has its id, name and args alone', () => {
  const extra = { id: 'c1', name: 'time', args: null, index: 0 };
  expect(toolCallEvent(extra)).toEqual({ kind: 'tool_call', id: 'c1', name: 'time', args: null });
});

test('L2.4 the end event carries the outcome', () => {
  const outcome = { error: { kind: 'stream', message: 'torn' } } as const;
  expect(turnEndEvent('completed')).toEqual({ kind: 'turn_end', outcome: 'completed' });
  expect(turnEndEvent(outcome)).toEqual({ kind: 'turn_end', outcome });
});

test('L7.1 a result event is what the registry gave, its row has value and error', async () => {
  const { sink, events } = collectingSink();
  const log = new FakeSessionLog();
  class Guarded extends FakeToolRegistry {
    override dispatch(): Promise<ToolOutput> {
      const decision = { kind: 'deny', reason: 'policy' } as const;
      return Promise.resolve(output({ value: 4, render: 'four', error: 'denied', decision }));
    }
  }
  const llm = new ScriptedLlm([callTools({ id: 'c1', name: 'x', args: 1 }), say('Done.')]);
  const loop = createAgentLoop(defaultAgentConfig(), { sink });
  await loop.runTurn(testContext({ llm, log, tools: new Guarded() }), 'Go.');
  expect(events.filter(({ kind }) => kind === 'tool_result')).toEqual([
    {
      kind: 'tool_result',
      callId: 'c1',
      ok: false,
      value: 4,
      render: 'four',
      error: 'denied',
      decision: 'deny',
    },
  ]);
  expect(log.rows.filter(({ type }) => type === 'tool_result')).toEqual([
    { type: 'tool_result', id: 'c1', value: 4, error: 'denied' },
  ]);
});

/** Rows and events of a turn in the order they came, as `row …` and `event …`. */
async function traceOf(llm: ScriptedLlm, tools: FakeToolRegistry): Promise<string[]> {
  const trace: string[] = [];
  const name = (of: SessionEvent | LoopEvent): string => {
    const label = 'type' in of ? `row ${of.type}` : `event ${of.kind}`;
    return 'id' in of && label.includes('tool') ? `${label} ${of.id}` : label;
  };
  const log = new FakeSessionLog({ onAppend: (row) => trace.push(name(row)) });
  const loop = createAgentLoop(defaultAgentConfig(), {
    sink: (event) => {
      trace.push(event.kind === 'tool_result' ? `event tool_result ${event.callId}` : name(event));
    },
  });
  await loop.runTurn(testContext({ llm, log, tools }), 'Go.');
  return trace;
}

test('L7.2 X9 every row is written before its event, in one order', async () => {
  const calls = [
    { id: 'a', name: 'slow', args: {} },
    { id: 'b', name: 'quick', args: {} },
  ];
  const llm = new ScriptedLlm([
    [think('hm'), { kind: 'text', text: 'See:' }, done('See:', ...calls)],
    [think('so'), ...say('Done.')],
  ]);
  const slow = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  expect(await traceOf(llm, new FakeToolRegistry({ slow, quick: () => 1 }))).toEqual([
    'row turn_start',
    'row user_message',
    'event thinking',
    'row thinking_delta',
    'event text',
    'row assistant_message',
    'event done',
    'row tool_call a',
    'event tool_call a',
    'row tool_call b',
    'event tool_call b',
    'row tool_result a',
    'event tool_result a',
    'row tool_result b',
    'event tool_result b',
    'event thinking',
    'row thinking_delta',
    'event text',
    'row assistant_message',
    'event done',
    'row turn_end',
    'event turn_end',
  ]);
});

test('L7.2 without a sink the turn writes the same rows and prints nothing', async () => {
  const rowsWith = async (bindings: { sink?: (event: LoopEvent) => void }) => {
    const log = new FakeSessionLog();
    const llm = new ScriptedLlm([
      callTools({ id: 'a', name: 'fails', args: {} }),
      [{ kind: 'failed', kindOf: 'stream', message: 'torn' }],
    ]);
    const fails = (): never => {
      throw new Error('a tool that fails');
    };
    const ctx = testContext({ llm, log, tools: new FakeToolRegistry({ fails }) });
    await createAgentLoop(defaultAgentConfig(), bindings).runTurn(ctx, 'Go.');
    return log.rows;
  };
  const { sink, events } = collectingSink();
  expect(await rowsWith({})).toEqual(await rowsWith({ sink })); // the guards hear every print
  expect(events.map(({ kind }) => kind)).toEqual(['done', 'tool_call', 'tool_result', 'turn_end']);
});
