import { describe, expect, test } from 'vitest';

import { DefaultAgentLoop } from '@celestea/agent-loop';
import {
  collectingSink,
  done,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  think,
  type Script,
} from '@celestea/agent-loop/testing';
import { defaultAgentConfig, zeroUsage, type StreamEvent } from '@celestea/core';

import { ThinkingBurst } from '../src/thinking.ts';

const text = (words: string): StreamEvent => ({ kind: 'text', text: words });
const usage: StreamEvent = { kind: 'usage', usage: zeroUsage() };
const failed: StreamEvent = { kind: 'failed', kindOf: 'stream', message: 'gave up' };
const throws = () => {
  throw new Error('torn');
};

/** The rows of one turn between its user message and its end; `stop` cancels it. */
async function rowsOf(script: (stop: () => void) => Script) {
  const controller = new AbortController();
  const log = new FakeSessionLog();
  const { sink, events } = collectingSink();
  const stop = () => {
    controller.abort();
  };
  const llm = new ScriptedLlm([script(stop), say('hi')]);
  const tools = new FakeToolRegistry({ echo: (args) => args });
  const bindings = { sink, signal: controller.signal };
  const loop = new DefaultAgentLoop(defaultAgentConfig(), bindings);
  await loop.runTurn(testContext({ llm, log, tools }), 'go');
  return { rows: log.rows.slice(2, -1), events };
}

const row = (words: string) => ({ type: 'thinking_delta', text: words });
const reply = (words: string) => ({ type: 'assistant_message', text: words });

const boundaries: { name: string; script: (stop: () => void) => Script; rows: unknown[] }[] = [
  {
    name: 'text',
    script: () => [
      ...[think('a'), think('b'), text('x')],
      ...[think('c'), think('d'), text('y'), done('xy')],
    ],
    rows: [row('ab'), row('cd'), reply('xy')],
  },
  {
    name: 'an empty text',
    script: () => [think('a'), text(''), think('b'), done('x')],
    rows: [row('a'), row('b'), reply('x')],
  },
  {
    name: 'done',
    script: () => [think('a'), think('b'), done('x'), think('c')],
    rows: [row('ab'), row('c'), reply('x')],
  },
  { name: 'failed', script: () => [think('a'), think('b'), failed], rows: [row('ab')] },
  {
    name: 'interrupted',
    script: () => [think('a'), think('b'), { kind: 'interrupted' }],
    rows: [row('ab')],
  },
  {
    name: 'a throwing iterator',
    script: () => [think('a'), think('b'), throws],
    rows: [row('ab')],
  },
  { name: 'the end of the stream', script: () => [think('a'), think('b')], rows: [row('ab')] },
  {
    name: 'a cancel',
    script: (stop) => [think('a'), think('b'), stop, think('c'), done('x')],
    rows: [row('ab')],
  },
  {
    name: 'usage, which is none',
    script: () => [think('a'), usage, think('b'), usage, done('x')],
    rows: [row('ab'), reply('x')],
  },
];

describe('bursts of thinking', () => {
  test.each(boundaries)('L3.2 one row a burst, at $name', async ({ script, rows }) => {
    expect((await rowsOf(script)).rows).toEqual(rows);
  });

  test.each([
    { name: 'no thinking', script: [text('x'), done('x')] },
    { name: 'empty deltas', script: [think(''), text('x'), think(''), think(''), done('x')] },
    { name: 'empty deltas at the end', script: [text('x'), done('x'), think('')] },
  ])('L3.2 $name: no row', async ({ script }) => {
    expect((await rowsOf(() => script)).rows).toEqual([reply('x')]);
  });

  test('L3.2 a burst is never carried into the next step', async () => {
    const call = { id: 'a', name: 'echo', args: 1 };
    const { rows } = await rowsOf(() => [think('one'), done('', call), think('two')]);
    expect(rows).toEqual([
      row('one'),
      row('two'),
      { type: 'tool_call', ...call },
      { type: 'tool_result', id: 'a', value: 1, error: null },
      reply('hi'),
    ]);
  });

  test('L3.2 code units that belong together may come in two deltas', async () => {
    const [high = '', low = ''] = '😀'.split('');
    const { rows, events } = await rowsOf(() => [think(high), think(low), ...say('x')]);
    expect(rows[0]).toEqual(row('😀'));
    expect(events.slice(0, 2)).toEqual([
      { kind: 'thinking', delta: high },
      { kind: 'thinking', delta: low },
    ]);
  });

  test('L3.2 a burst that was taken starts anew', () => {
    const burst = new ThinkingBurst();
    expect(burst.take()).toBeNull();
    burst.add('');
    expect(burst.take()).toBeNull();
    burst.add('a');
    burst.add('b');
    expect(burst.take()).toBe('ab');
    expect(burst.take()).toBeNull();
    burst.add('c');
    expect(burst.take()).toBe('c');
  });
});

describe('where thinking stands', () => {
  test('L3.3 before the reply that it precedes', async () => {
    const { rows } = await rowsOf(() => [think('a'), text('x'), think('b'), done('x')]);
    expect(rows).toEqual([row('a'), row('b'), reply('x')]);
  });

  test('L3.3 before the tool calls that it precedes', async () => {
    const calls = ['a', 'b'].map((id) => ({ id, name: 'echo', args: id }));
    const { rows } = await rowsOf(() => [think('first'), done('', ...calls)]);
    expect(rows.map((written) => written.type)).toEqual([
      'thinking_delta',
      'tool_call',
      'tool_call',
      'tool_result',
      'tool_result',
      'assistant_message',
    ]);
  });

  test('L3.3 the row is in the log before the text that follows it is told', async () => {
    const log = new FakeSessionLog();
    const rowsAtText: number[] = [];
    const loop = new DefaultAgentLoop(defaultAgentConfig(), {
      sink: (event) => {
        if (event.kind === 'text') rowsAtText.push(log.rows.length);
      },
    });
    const script = [think('a'), text('x'), text('y'), think('b'), text('z'), done('xyz')];
    await loop.runTurn(testContext({ llm: new ScriptedLlm([script]), log }), 'go');
    expect(rowsAtText).toEqual([3, 3, 4]);
  });
});
