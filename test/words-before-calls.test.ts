import {
  defaultAgentConfig,
  type LoopEvent,
  type Message,
  type SessionEvent,
  type ToolCall,
} from '@celestea/core';
import { expect, test } from 'vitest';

import { createAgentLoop } from '../src/plugin.ts';
import {
  assertLogValid,
  callTools,
  done,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  think,
  type Script,
} from '../src/testing/index.ts';
import { assertRequestValid } from './support/request-checker.ts';

const a: ToolCall = { id: 'a', name: 'echo', args: { of: 1 } };
const b: ToolCall = { id: 'b', name: 'echo', args: { of: 2 } };
const text = (content: string) => ({ type: 'text', content });
const block = (content: ToolCall) => ({ type: 'tool_call', content });

async function play(scripts: Script[], log = new FakeSessionLog()) {
  const trace: (SessionEvent | LoopEvent)[] = [];
  const llm = new ScriptedLlm(scripts);
  const tools = new FakeToolRegistry({ echo: (args) => args, nothing: () => '' });
  const loop = createAgentLoop(defaultAgentConfig(), { sink: (event) => trace.push(event) });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  assertLogValid(log.rows);
  for (const request of llm.requests) assertRequestValid(request);
  return { outcome, rows: log.rows, events: trace, requests: llm.requests };
}

const contents = (messages: readonly Message[] | undefined) =>
  messages?.map(({ role, content }) => [role, content]);

test('X9 words beside calls are a row ahead of the calls, and one message with them', async () => {
  const { rows, requests } = await play([
    [think('hm'), { kind: 'text', text: 'Let me see.' }, done('Let me see.', a, b)],
    say('Done.'),
  ]);
  expect(rows.slice(2, 6)).toEqual([
    { type: 'thinking_delta', text: 'hm' },
    { type: 'assistant_message', text: 'Let me see.', calls_follow: true },
    { type: 'tool_call', ...a },
    { type: 'tool_call', ...b },
  ]);
  expect(rows.at(-2)).toStrictEqual({ type: 'assistant_message', text: 'Done.' });
  expect(contents(requests[1]?.messages)).toEqual([
    ['user', [text('go')]],
    ['assistant', [text('Let me see.'), block(a), block(b)]],
    ['tool', [text('{"of":1}')]],
    ['tool', [text('{"of":2}')]],
  ]);
});

test('X9 calls without words have no such row', async () => {
  const { rows, requests } = await play([callTools(a), say('Done.')]);
  expect(rows.map(({ type }) => type)).toEqual([
    ...['turn_start', 'user_message', 'tool_call', 'tool_result', 'assistant_message', 'turn_end'],
  ]);
  expect(contents(requests[1]?.messages)?.[1]).toEqual(['assistant', [block(a)]]);
});

test('X9 the joined words of several done events stand before all the calls', async () => {
  const { rows } = await play([[done('One, ', a), done('two.', b)], say('Done.')]);
  expect(rows.slice(2, 5)).toEqual([
    { type: 'assistant_message', text: 'One, two.', calls_follow: true },
    { type: 'tool_call', ...a },
    { type: 'tool_call', ...b },
  ]);
});

test('X9 words of two steps are two messages', async () => {
  const { requests } = await play([[done('One.', a)], [done('Two.', b)], say('Done.')]);
  expect(contents(requests[2]?.messages)?.filter(([role]) => role === 'assistant')).toEqual([
    ['assistant', [text('One.'), block(a)]],
    ['assistant', [text('Two.'), block(b)]],
  ]);
});

test('X9 an empty reply is a row of the log and no message of the next request', async () => {
  const log = new FakeSessionLog();
  const first = await play([[done('')]], log);
  expect(first.outcome).toBe('completed');
  expect(log.rows.at(-2)).toEqual({ type: 'assistant_message', text: '' });
  const { requests } = await play([say('Hi.')], log);
  expect(contents(requests[0]?.messages)).toEqual([
    ['user', [text('go')]],
    ['user', [text('go')]],
  ]);
});

test('X9 an empty result stands in its place as ""', async () => {
  const quiet: ToolCall = { id: 'q', name: 'nothing', args: {} };
  const { requests } = await play([[done('', quiet, a)], say('Done.')]);
  expect(contents(requests[1]?.messages)?.slice(2)).toEqual([
    ['tool', [text('""')]],
    ['tool', [text('{"of":1}')]],
  ]);
});

test('L4.3 X9 calls of a torn stream leave no words behind', async () => {
  const torn = { kind: 'failed', kindOf: 'stream', message: 'torn' } as const;
  const { outcome, rows, events } = await play([[done('Let me see.', a), torn]]);
  expect(outcome).toEqual({ error: { kind: 'stream', message: 'torn' } });
  expect(rows.map(({ type }) => type)).toEqual(['turn_start', 'user_message', 'turn_end']);
  expect(events).toContainEqual({ kind: 'done', text: 'Let me see.', tool_calls: [a] });
});

test('X9 a log that breaks between words and calls keeps the words for the next turn', async () => {
  let broken = true;
  const log = new FakeSessionLog({
    onAppend: (row) => {
      if (broken && row.type === 'tool_call') throw new Error('disk full');
    },
  });
  await expect(play([[done('Let me see.', a)]], log)).rejects.toThrow('disk full');
  broken = false;
  assertLogValid(log.rows);
  const { requests } = await play([say('Hi.')], log);
  expect(contents(requests[0]?.messages)).toEqual([
    ['user', [text('go')]],
    ['assistant', [text('Let me see.')]],
    ['user', [text('go')]],
  ]);
});
