import {
  defaultAgentConfig,
  FINISH_REASONS,
  type FinishReason,
  type LoopEvent,
  type StreamEvent,
  type ToolCall,
} from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { createAgentLoop } from '../src/plugin.ts';
import { loopEventToSse } from '../src/sse.ts';
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
  type Script,
} from '../src/testing/index.ts';

const a: ToolCall = { id: 'a', name: 'echo', args: { of: 1 } };
const b: ToolCall = { id: 'b', name: 'echo', args: '{"of": "cut o' };

/** A done event with a reason, which a newer provider may make up. */
const because = (finish: unknown, text: string, ...calls: ToolCall[]): StreamEvent =>
  ({ ...done(text, ...calls), finish }) as StreamEvent;

async function play(scripts: Script[], max_steps = 0) {
  const { sink, events } = collectingSink();
  const log = new FakeSessionLog();
  const llm = new ScriptedLlm(scripts);
  const tools = new FakeToolRegistry({ echo: (args) => args });
  const loop = createAgentLoop(defaultAgentConfig({ max_steps }), { sink });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  assertLogValid(log.rows);
  return { outcome, events, rows: log.rows, llm, tools };
}

const doneEvents = (events: LoopEvent[]) =>
  events.flatMap((event) => (event.kind === 'done' ? [event] : []));

describe('why the model stopped', () => {
  test.each(FINISH_REASONS)('X8 %s is in the done event and its frame', async (finish) => {
    const { outcome, events } = await play([[because(finish, 'Hi.')]]);
    expect(outcome).toBe('completed');
    const [event] = doneEvents(events);
    expect(event).toEqual({ kind: 'done', text: 'Hi.', tool_calls: [], finish });
    if (event === undefined) throw new Error('no done event');
    expect(loopEventToSse(event)).toEqual({
      event: 'done',
      payload: { text: 'Hi.', tool_calls: [], finish },
    });
  });

  test.each([[undefined], [null]])('X8 %s is no reason, and no field', async (none) => {
    const { events } = await play([[because(none, 'Hi.')]]);
    const [event] = doneEvents(events);
    expect(event).toStrictEqual({ kind: 'done', text: 'Hi.', tool_calls: [] });
    if (event === undefined) throw new Error('no done event');
    expect(loopEventToSse(event).payload).toStrictEqual({ text: 'Hi.', tool_calls: [] });
  });

  test.each([['pause_turn'], [''], [7], [{}], ['LENGTH']])(
    'X8 a reason of a newer provider, %j, reads as other, and its calls are run',
    async (reason) => {
      const { outcome, events, tools } = await play([[because(reason, '', a)], say('Done.')]);
      expect(outcome).toBe('completed');
      expect(doneEvents(events)[0]?.finish).toBe('other');
      expect(tools.settled).toEqual(['a']);
    },
  );

  test.each<[string, unknown, unknown, FinishReason | undefined]>([
    ['the last one said', 'stop', 'refusal', 'refusal'],
    ['one said before', 'content_filter', undefined, 'content_filter'],
    ['one said after', undefined, 'stop', 'stop'],
  ])('X8 of several done events %s counts', async (_, first, second, expected) => {
    const { events } = await play([[because(first, 'Hi'), because(second, '.')]]);
    expect(doneEvents(events)).toHaveLength(1);
    expect(doneEvents(events)[0]).toMatchObject({ text: 'Hi.' });
    expect(doneEvents(events)[0]?.finish).toBe(expected);
  });

  test.each<FinishReason>(['stop', 'content_filter', 'refusal', 'other'])(
    'X8 the calls decide whether there are calls, not the reason %s',
    async (finish) => {
      const { outcome, tools } = await play([[because(finish, '', a)], say('Done.')]);
      expect(outcome).toBe('completed');
      expect(tools.settled).toEqual(['a']);
    },
  );

  test('X8 tool_calls without calls is an answer', async () => {
    const { outcome, llm } = await play([[because('tool_calls', 'Hi.')]]);
    expect(outcome).toBe('completed');
    expect(llm.requests).toHaveLength(1);
  });
});

describe('a reply that reached its length limit', () => {
  const said = /^not run: the reply reached its length limit/;

  test('X8 none of its calls is run, each result says so, and the turn goes on', async () => {
    const scripts = [[because('length', 'See:', a, b)], say('Done.')];
    const { outcome, events, rows, llm, tools } = await play(scripts);
    expect(outcome).toBe('completed');
    expect(tools.dispatched).toEqual([]);
    expect(rows.map(({ type }) => type)).toEqual([
      ...['turn_start', 'user_message', 'assistant_message', 'tool_call', 'tool_call'],
      ...['tool_result', 'tool_result', 'assistant_message', 'turn_end'],
    ]);
    const results = rows.flatMap((row) => (row.type === 'tool_result' ? [row] : []));
    expect(results.map(({ id, value }) => [id, value])).toEqual([['a', null], ['b', null]]);
    for (const { error, abandoned } of results) {
      expect(error).toMatch(said);
      expect(abandoned).toBeUndefined();
    }
    const told = events.flatMap((event) => (event.kind === 'tool_result' ? [event] : []));
    expect(told.map(({ callId, ok }) => [callId, ok])).toEqual([['a', false], ['b', false]]);
    const answers = llm.requests[1]?.messages.slice(2).map(({ content }) => content);
    expect(answers).toEqual(
      results.map(({ error }) => [{ type: 'text', content: `Error: ${String(error)}` }]),
    );
  });

  test('X8 the steps it takes count against the budget', async () => {
    const cut = [because('length', '', a)];
    const { outcome, llm, tools } = await play([cut, cut, cut], 3);
    expect(outcome).toBe('step_limit');
    expect(llm.requests).toHaveLength(3);
    expect(tools.dispatched).toEqual([]);
  });

  test('X8 the limit of an earlier reply does not touch the calls of the next', async () => {
    const scripts = [[because('length', '', a)], callTools({ ...b, args: {} }), say('Done.')];
    const { tools } = await play(scripts);
    expect(tools.settled).toEqual(['b']);
  });

  test('X8 said by the last of several done events it holds for the calls of all', async () => {
    const cut = [because('tool_calls', '', a), because('length', '', b)];
    const { tools } = await play([cut, say('.')]);
    expect(tools.dispatched).toEqual([]);
  });

  test('X8 without calls its words are the answer', async () => {
    const { outcome, rows } = await play([[because('length', 'It is')]]);
    expect(outcome).toBe('completed');
    expect(rows.at(-2)).toEqual({ type: 'assistant_message', text: 'It is' });
  });
});
