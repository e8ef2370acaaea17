import {
  defaultAgentConfig,
  type LoopEvent,
  type Message,
  type SessionEvent,
  type StreamEvent,
  type ToolCall,
} from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { createAgentLoop } from '../src/plugin.ts';
import {
  assertLogValid,
  callTools,
  collectingSink,
  done,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  think,
  thinkSigned,
  type Script,
} from '../src/testing/index.ts';

const SIGNATURE = { signature: 'c2ln', nested: [1, null, { '': 'x' }] };
const a: ToolCall = { id: 'a', name: 'echo', args: { of: 1 }, meta: SIGNATURE };
const b: ToolCall = { id: 'b', name: 'echo', args: { of: 2 } };

const text = (content: string) => ({ type: 'text', content });
const block = (content: ToolCall) => ({ type: 'tool_call', content });
const thought = (said: string, meta: unknown) => ({
  type: 'thinking',
  content: { text: said, meta },
});

async function play(scripts: Script[], log = new FakeSessionLog()) {
  const { sink, events } = collectingSink();
  const llm = new ScriptedLlm(scripts);
  const tools = new FakeToolRegistry({ echo: (args) => args });
  const loop = createAgentLoop(defaultAgentConfig(), { sink });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  assertLogValid(log.rows);
  return { outcome, rows: log.rows, events, requests: llm.requests, tools };
}

const assistants = (messages: readonly Message[] | undefined) =>
  messages?.filter(({ role }) => role === 'assistant').map(({ content }) => content);

const thinkingRows = (rows: readonly SessionEvent[]) =>
  rows.filter(({ type }) => type === 'thinking_delta');

const thinkingEvents = (events: readonly LoopEvent[]) =>
  events.flatMap((event) => (event.kind === 'thinking' ? [event.delta] : []));

describe('signed calls', () => {
  test('X10 the signature is on the row, and verbatim in every later request', async () => {
    const log = new FakeSessionLog();
    const scripts = [[done('So:', a, b)], callTools({ ...b, id: 'c' }), say('.')];
    const { rows, requests } = await play(scripts, log);
    expect(rows.filter(({ type }) => type === 'tool_call').slice(0, 2)).toStrictEqual([
      { type: 'tool_call', id: 'a', name: 'echo', args: { of: 1 }, meta: SIGNATURE },
      { type: 'tool_call', id: 'b', name: 'echo', args: { of: 2 } },
    ]);
    const asked = [text('So:'), block(a), block(b)];
    expect(assistants(requests[1]?.messages)).toStrictEqual([asked]);
    expect(assistants(requests[2]?.messages)?.[0]).toStrictEqual(asked);
    const later = await play([say('Hi.')], new FakeSessionLog({ rows: log.rows }));
    expect(assistants(later.requests[0]?.messages)?.[0]).toStrictEqual(asked);
  });

  test('X10 neither the events nor the tool see it', async () => {
    const { events, tools } = await play([[done('', a)], say('.')]);
    expect(JSON.stringify(events)).not.toContain('c2ln');
    expect(tools.dispatched).toStrictEqual([{ call_id: 'a', name: 'echo', args: { of: 1 } }]);
  });

  test.each([[null], [undefined]])('X10 a signature of %s is none', async (meta) => {
    const { rows } = await play([callTools({ ...b, meta }), say('.')]);
    expect(rows[2]).toStrictEqual({ type: 'tool_call', ...b });
  });

  test.each([[0], [''], [false], [[]]])('X10 any other JSON is one: %j', async (meta) => {
    const { rows, requests } = await play([callTools({ ...b, meta }), say('.')]);
    expect(rows[2]).toStrictEqual({ type: 'tool_call', ...b, meta });
    expect(assistants(requests[1]?.messages)).toStrictEqual([[block({ ...b, meta })]]);
  });

  test('X10 X11 it stays with its call when the id is replaced', async () => {
    const { rows } = await play([callTools({ ...a, id: '' }), say('.')]);
    const row = rows[2];
    expect(row).toMatchObject({ type: 'tool_call', id: 'call-turn-0-0', meta: SIGNATURE });
  });
});

describe('signed reasoning', () => {
  test('X10 a signature closes its burst and comes back in front of the reply', async () => {
    const reply: StreamEvent[] = [
      think('first '),
      thinkSigned('words', 'sig-1'),
      think('more'),
      thinkSigned('', 'sig-2'),
      think('unsigned'),
      done('So:', b),
    ];
    const { rows, events, requests } = await play([reply, say('.')]);
    expect(thinkingRows(rows)).toStrictEqual([
      { type: 'thinking_delta', text: 'first words', meta: 'sig-1' },
      { type: 'thinking_delta', text: 'more', meta: 'sig-2' },
      { type: 'thinking_delta', text: 'unsigned' },
    ]);
    expect(thinkingEvents(events)).toEqual(['first ', 'words', 'more', '', 'unsigned']);
    expect(assistants(requests[1]?.messages)).toStrictEqual([
      [thought('first words', 'sig-1'), thought('more', 'sig-2'), text('So:'), block(b)],
    ]);
  });

  test.each([[() => 1], [Symbol('s')], [NaN], [null]])(
    'X10 a signature that JSON cannot hold is none, and its words are part of their burst: %s',
    async (meta) => {
      const { rows } = await play([[think('a'), thinkSigned('b', meta), think('c'), done('d')]]);
      expect(thinkingRows(rows)).toStrictEqual([{ type: 'thinking_delta', text: 'abc' }]);
    },
  );

  test('X10 redacted reasoning has no words and is kept all the same', async () => {
    const redacted = { redacted: 'b64' };
    const { rows, requests } = await play([[thinkSigned('', redacted), done('', b)], say('.')]);
    expect(thinkingRows(rows)).toStrictEqual([
      { type: 'thinking_delta', text: '', meta: redacted },
    ]);
    expect(assistants(requests[1]?.messages)).toStrictEqual([[thought('', redacted), block(b)]]);
  });

  test('X10 before a reply in words it stands in that message, in the next turn', async () => {
    const log = new FakeSessionLog();
    await play([[thinkSigned('hm', 'sig'), ...say('Hi.')]], log);
    const { requests } = await play([say('Bye.')], log);
    expect(assistants(requests[0]?.messages)).toStrictEqual([[thought('hm', 'sig'), text('Hi.')]]);
  });

  test('X10 L3.4 what is signed after the finish frame still stands before the reply', async () => {
    const { rows } = await play([[done('Hi.'), thinkSigned('late', 'sig')]]);
    expect(rows.slice(2, 4)).toStrictEqual([
      { type: 'thinking_delta', text: 'late', meta: 'sig' },
      { type: 'assistant_message', text: 'Hi.' },
    ]);
  });

  test('X10 unsigned reasoning is never sent', async () => {
    const { requests } = await play([[think('secret'), done('', b)], say('.')]);
    expect(JSON.stringify(requests[1]?.messages)).not.toContain('secret');
  });

  test.each<[string, Script]>([
    ['torn', [thinkSigned('hm', 'sig'), { kind: 'failed', kindOf: 'stream', message: 'torn' }]],
    ['interrupted', [thinkSigned('hm', 'sig'), { kind: 'interrupted' }]],
    ['empty', [thinkSigned('hm', 'sig'), done('')]],
    ['torn before its calls ran', [thinkSigned('hm', 'sig'), done('', a), { kind: 'interrupted' }]],
  ])('X10 it is dropped with a step that is %s, and kept in the log', async (_, script) => {
    const log = new FakeSessionLog();
    await play([script], log);
    expect(thinkingRows(log.rows)).toHaveLength(1);
    const { requests } = await play([say('Hi.')], log);
    expect(requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'user']);
    expect(JSON.stringify(requests[0]?.messages)).not.toContain('sig');
  });

  test('X10 each step has its own', async () => {
    const { requests } = await play([
      [thinkSigned('one', 1), done('', b)],
      [thinkSigned('two', 2), done('', { ...b, id: 'c' })],
      say('.'),
    ]);
    expect(assistants(requests[2]?.messages)).toStrictEqual([
      [thought('one', 1), block(b)],
      [thought('two', 2), block({ ...b, id: 'c' })],
    ]);
  });

  test('X7 X10 it is dropped with its step where a request has to fit', async () => {
    const log = new FakeSessionLog();
    const long = 'r'.repeat(30_000);
    await play([[thinkSigned(long, 'old'), done('', b)], say('.')], log);
    const { sink } = collectingSink();
    const step = [thinkSigned('new', 'new'), done('', { ...b, id: 'c' })];
    const llm = new ScriptedLlm([step, say('.')]);
    const config = defaultAgentConfig({ context_window_tokens: 2000 });
    const ctx = testContext({ llm, log, tools: new FakeToolRegistry({ echo: (args) => args }) });
    expect(await createAgentLoop(config, { sink }).runTurnOutcome(ctx, 'again')).toBe('completed');
    const sent = JSON.stringify(llm.requests[1]?.messages);
    expect(sent).toContain('"meta":"new"');
    expect(sent).not.toContain('"meta":"old"');
  });
});
