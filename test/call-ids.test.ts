import {
  defaultAgentConfig,
  toolCallIds,
  type Message,
  type ToolCall,
  type ToolResultRow,
} from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { CallIds } from '../src/call-ids.ts';
import type { Diagnostic } from '../src/diagnostics.ts';
import type { ContextPolicy } from '../src/options.ts';
import { createAgentLoop } from '../src/plugin.ts';
import {
  assertLogValid,
  callTools,
  collectingSink,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  type Script,
} from '../src/testing/index.ts';
import { assertRequestValid } from './support/request-checker.ts';

/** A call with an id as a provider may send it, or none at all. */
const asks = (id: unknown, of: unknown = id): ToolCall =>
  ({ ...(id === undefined ? {} : { id }), name: 'echo', args: { of } }) as ToolCall;

async function play(scripts: Script[], log = new FakeSessionLog()) {
  const { sink, events } = collectingSink();
  const diagnostics: Diagnostic[] = [];
  const llm = new ScriptedLlm(scripts);
  const tools = new FakeToolRegistry({ echo: (args) => args });
  const onDiagnostic = (one: Diagnostic): void => void diagnostics.push(one);
  const loop = createAgentLoop(defaultAgentConfig(), { sink, onDiagnostic });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  expect(outcome).toBe('completed');
  assertLogValid(log.rows);
  for (const request of llm.requests) assertRequestValid(request);
  return { log, events, diagnostics, requests: llm.requests, tools };
}

type Played = Awaited<ReturnType<typeof play>>;

/** Every place where ids of this turn are told agrees; gives them. */
function idsOf({ log, events, requests, tools }: Played): string[] {
  const turn = log.rows.slice(log.rows.findLastIndex(({ type }) => type === 'turn_start'));
  const ids = turn.flatMap((row) => (row.type === 'tool_call' ? [row.id] : []));
  expect(turn.flatMap((row) => (row.type === 'tool_result' ? [row.id] : []))).toEqual(ids);
  expect(events.flatMap((e) => (e.kind === 'tool_call' ? [e.id] : []))).toEqual(ids);
  expect(events.flatMap((e) => (e.kind === 'tool_result' ? [e.callId] : []))).toEqual(ids);
  const finished = events.flatMap((e) => (e.kind === 'done' ? e.tool_calls : []));
  expect(finished.map(({ id }) => id)).toEqual(ids);
  expect(tools.dispatched.map((input) => input.call_id)).toEqual(ids);
  const sent = requests.at(-1)?.messages ?? [];
  const all = log.rows.flatMap((row) => (row.type === 'tool_call' ? [row.id] : []));
  expect(sent.flatMap(toolCallIds)).toEqual(all);
  expect(sent.flatMap((message) => message.tool_call_id ?? [])).toEqual(all);
  expect(new Set(all).size).toBe(all.length);
  return ids;
}

/** What each call was given and gave back: nobody gets another one's result. */
const answers = ({ log }: Played): unknown[] => {
  const turn = log.rows.slice(log.rows.findLastIndex(({ type }) => type === 'turn_start'));
  const results = turn.filter((row): row is ToolResultRow => row.type === 'tool_result');
  return results.map(({ value }) => (value as { of: unknown }).of);
};

describe('ids of one step', () => {
  test.each<[string, unknown[], string[]]>([
    ['good ids stay', ['a', 'b'], ['a', 'b']],
    ['empty', [''], ['call-turn-0-0']],
    ['all empty', ['', '', ''], ['call-turn-0-0', 'call-turn-0-1', 'call-turn-0-2']],
    ['missing', [undefined, 'b'], ['call-turn-0-0', 'b']],
    ['null', [null], ['call-turn-0-0']],
    ['a number', [7, 7], ['call-turn-0-0', 'call-turn-0-1']],
    ['an object', [{}], ['call-turn-0-0']],
    ['ill-formed', ['a\ud83d'], ['call-turn-0-0']],
    ['repeated: the first one keeps it', ['a', 'a', 'a'], ['a', 'call-turn-0-0', 'call-turn-0-1']],
    ['one that a fresh id would take', ['call-turn-0-0', ''], ['call-turn-0-0', 'call-turn-0-1']],
    ['one that took it already', ['', 'call-turn-0-0'], ['call-turn-0-0', 'call-turn-0-1']],
    ['names of Object', ['__proto__', 'constructor'], ['__proto__', 'constructor']],
    ['white space is an id', [' ', '  '], [' ', '  ']],
  ])('X11 %s', async (_, given, expected) => {
    const played = await play([callTools(...given.map((id, index) => asks(id, index))), say('.')]);
    expect(idsOf(played)).toEqual(expected);
    expect(answers(played)).toEqual(given.map((__, index) => index));
  });

  test('X11 X15 each replaced id is told, and no other', async () => {
    const step = callTools(asks('a'), asks('a'), asks(undefined));
    const { diagnostics } = await play([step, say('.')]);
    expect(diagnostics).toEqual([
      { kind: 'call_id_replaced', message: 'call id "a" was replaced by call-turn-0-0' },
      { kind: 'call_id_replaced', message: 'call id undefined was replaced by call-turn-0-1' },
    ]);
  });
});

test('X11 what a policy does to the history it was given frees no id', async () => {
  const log = new FakeSessionLog();
  const contextPolicy: ContextPolicy = ({ messages }) => {
    const taken = (messages as Message[]).splice(0);
    return { messages: taken, outcome: { removedMessages: 0, removedTokens: 0, trimmed: false } };
  };
  for (let turn = 0; turn < 2; turn += 1) {
    const llm = new ScriptedLlm([callTools(asks('a')), say('.')]);
    const loop = createAgentLoop(defaultAgentConfig(), { contextPolicy });
    await loop.runTurn(testContext({ llm, log, tools: new FakeToolRegistry({ echo: () => 1 }) }), 'go');
  }
  const ids = log.rows.flatMap((row) => (row.type === 'tool_call' ? [row.id] : []));
  expect(ids).toEqual(['a', 'call-turn-1-0']);
});

describe('ids of later steps and turns', () => {
  test('X11 a provider that counts from 0 in every step', async () => {
    const step = callTools(asks('0'), asks('1'));
    const played = await play([step, step, step, say('.')]);
    expect(idsOf(played)).toEqual([
      ...['0', '1', 'call-turn-0-0', 'call-turn-0-1', 'call-turn-0-2', 'call-turn-0-3'],
    ]);
    expect(answers(played)).toEqual(['0', '1', '0', '1', '0', '1']);
  });

  test('X11 and in every turn, with another loop over the same log', async () => {
    const log = new FakeSessionLog();
    const step = callTools(asks('0'));
    expect(idsOf(await play([step, say('.')], log))).toEqual(['0']);
    expect(idsOf(await play([step, step, say('.')], log))).toEqual([
      ...['call-turn-1-0', 'call-turn-1-1'],
    ]);
    const reopened = new FakeSessionLog({ rows: log.rows });
    expect(idsOf(await play([step, say('.')], reopened))).toEqual(['call-turn-2-0']);
  });

  test('X11 a fresh id of an earlier step, sent back by the provider as its own', async () => {
    const steps = [callTools(asks('')), callTools(asks('call-turn-0-0')), callTools(asks(''))];
    expect(idsOf(await play([...steps, say('.')]))).toEqual([
      ...['call-turn-0-0', 'call-turn-0-1', 'call-turn-0-2'],
    ]);
  });

  test('X11 fresh ids go round those that a log has from elsewhere', async () => {
    const taken = ['call-turn-0-0', 'call-turn-0-1'];
    const rows = taken.flatMap((id) => [
      { type: 'tool_call', id, name: 'echo', args: {} } as const,
      { type: 'tool_result', id, value: 1, error: null } as const,
    ]);
    const log = new FakeSessionLog({
      rows: [{ type: 'user_message', text: 'go' }, ...rows],
    });
    const llm = new ScriptedLlm([callTools(asks('')), say('.')]);
    const ctx = testContext({ llm, log, tools: new FakeToolRegistry({ echo: (args) => args }) });
    await createAgentLoop(defaultAgentConfig()).runTurn(ctx, 'go');
    expect(llm.requests[1]?.messages.flatMap(toolCallIds)).toEqual([...taken, 'call-turn-0-2']);
  });

  test('X7 X11 an id that was cut from the request is taken all the same', async () => {
    const log = new FakeSessionLog();
    await play([callTools(asks('a', 'x'.repeat(9000))), say('.')], log);
    const llm = new ScriptedLlm([callTools(asks('a')), say('.')]);
    const config = defaultAgentConfig({ context_window_tokens: 1000, context_keep_recent: 1 });
    const ctx = testContext({ llm, log, tools: new FakeToolRegistry({ echo: (args) => args }) });
    await createAgentLoop(config).runTurn(ctx, 'go');
    expect(llm.requests[1]?.messages.flatMap(toolCallIds)).toEqual(['call-turn-1-0']);
    assertLogValid(log.rows);
  });
});

test('X11 the calls handed in are not touched, and a good one is handed back as it is', () => {
  const calls = [asks('a'), asks('a')].map((call) => Object.freeze(call));
  const own = new CallIds('turn-0').unique(Object.freeze(calls), () => undefined);
  expect(own[0]).toBe(calls[0]);
  expect(own[1]).toEqual({ ...calls[1], id: 'call-turn-0-0' });
  expect(calls.map(({ id }) => id)).toEqual(['a', 'a']);
});
