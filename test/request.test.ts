import {
  AgentError,
  assistantText,
  assistantToolCall,
  Context,
  defaultAgentConfig,
  LLM_SERVICE,
  messageText,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  toolResultMessage,
  userMessage,
  type AgentConfig,
  type Message,
  type ModelRequest,
  type SessionEvent,
  type ToolSpec,
} from '@celestea/core';
import { expect, test } from 'vitest';

import { trimContext } from '../src/context-trim.ts';
import { DefaultAgentLoop } from '../src/loop.ts';
import type { ContextPolicy, PrepareStep } from '../src/options.ts';
import { withMessageEstimator } from '../src/tokens.ts';
import {
  callTools,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
} from '../src/testing/index.ts';

const config = (overrides: Partial<AgentConfig> = {}): AgentConfig =>
  defaultAgentConfig({ model: 'm-1', system_prompt: 'Be brief.', ...overrides });

const spec = (name: string): ToolSpec => ({
  name,
  description: `the fake tool ${name}`,
  parameters: { type: 'object' },
});

const asked = (messages: ModelRequest['messages'], tools: ToolSpec[]): ModelRequest => ({
  model: 'm-1',
  system: 'Be brief.',
  messages,
  tools,
  max_tokens: null,
  temperature: null,
});

const call = { id: 'c1', name: 'time', args: { zone: 'UTC' } };

test.each([
  [{ deriveMessages: () => 'all of them' }, {}, 'deriveMessages of the session log', '"all of them"'],
  [{}, { schemas: () => null }, 'schemas of the tool registry', 'null'],
])('L2.7 a seam that gives no list is named: %#', async (log, tools, what, came) => {
  const broken = testContext({
    llm: new ScriptedLlm([say('.')]),
    log: Object.assign(new FakeSessionLog(), log),
    tools: Object.assign(new FakeToolRegistry(), tools),
  });
  const run = new DefaultAgentLoop(config()).runTurn(broken, 'go');
  await expect(run).rejects.toThrow(new TypeError(`${what}: expected an array, got ${came}`));
});

test('L5.1 each request of a turn is the configuration, the history and the tools', async () => {
  const llm = new ScriptedLlm([callTools(call), say('It is noon.'), say('You are welcome.')]);
  const tools = new FakeToolRegistry({ time: () => 'noon', add: () => 1 });
  const ctx = testContext({ llm, tools });
  const loop = new DefaultAgentLoop(config());
  await loop.runTurn(ctx, 'What time is it?');
  await loop.runTurn(ctx, 'Thanks.');

  const specs = [spec('add'), spec('time')];
  const first = [userMessage('What time is it?')];
  const second = [
    ...first,
    assistantToolCall(call),
    toolResultMessage('c1', '"noon"'),
  ];
  const third = [...second, assistantText('It is noon.'), userMessage('Thanks.')];
  expect(llm.requests).toEqual([first, second, third].map((m) => asked(m, specs)));
  expect(Object.keys(llm.requests[0] ?? {})).toEqual([
    'model',
    'system',
    'messages',
    'tools',
    'max_tokens',
    'temperature',
  ]);
});

test('L5.1 the history is what the log derives, and nothing is remembered beside it', async () => {
  const log = new FakeSessionLog();
  const forget = (): string => {
    const rows: SessionEvent[] = log.events();
    log.clear();
    for (const row of rows) {
      log.append(row.type === 'user_message' ? { ...row, text: 'Something else.' } : row);
    }
    return 'noon';
  };
  const llm = new ScriptedLlm([callTools(call), say('Yes.'), say('No.')]);
  const ctx = testContext({ llm, log, tools: new FakeToolRegistry({ time: forget }) });
  const loop = new DefaultAgentLoop(config());
  await loop.runTurn(ctx, 'What time is it?');
  log.clear();
  await loop.runTurn(ctx, 'Again.');
  expect(llm.requests.map(({ messages }) => messages.map(messageText))).toEqual([
    ['What time is it?'],
    ['Something else.', null, '"noon"'],
    ['Again.'],
  ]);
});

/** A log that hands out the very array it keeps. */
class KeepingLog extends FakeSessionLog {
  derived = 0;
  readonly kept = [userMessage('What the log keeps.')];
  override deriveMessages(): Message[] {
    this.derived += 1;
    return this.kept;
  }
}

test('L5.1 the messages are derived once a request, and the array is its own', async () => {
  const log = new KeepingLog();
  const llm = new ScriptedLlm([callTools(call), say('Done.')]);
  await new DefaultAgentLoop(config()).runTurn(testContext({ llm, log }), 'Go.');
  expect(log.derived).toBe(2);
  for (const { messages } of llm.requests) {
    expect(messages).toEqual(log.kept);
    expect(messages).not.toBe(log.kept);
  }
});

test('L5.1 what a host changes in a request does not reach the log', async () => {
  const log = new KeepingLog();
  const prepareStep: PrepareStep = ({ messages }) => {
    messages.push(userMessage('What the host adds.'));
  };
  const llm = new ScriptedLlm([callTools(call), say('Done.')]);
  const loop = new DefaultAgentLoop(config(), { prepareStep });
  await loop.runTurn(testContext({ llm, log }), 'Go.');
  expect(log.kept).toHaveLength(1);
  for (const { messages } of llm.requests) {
    expect(messages).toEqual([...log.kept, userMessage('What the host adds.')]);
  }
});

test('L5.1 a tool that comes in the middle of a turn is in the next request', async () => {
  const tools = new FakeToolRegistry({
    time: () => {
      tools.register({ spec: () => spec('zone'), execute: () => Promise.resolve('UTC') });
    },
  });
  const llm = new ScriptedLlm([callTools(call), say('Done.')]);
  await new DefaultAgentLoop(config()).runTurn(testContext({ llm, tools }), 'Go.');
  expect(llm.requests.map((request) => request.tools)).toEqual([
    [spec('time')],
    [spec('time'), spec('zone')],
  ]);
});

/** Two exchanges of 10 tokens each; the prompt has 3, a question of one word 5. */
const older: SessionEvent[] = [
  { type: 'user_message', text: 'one.' },
  { type: 'assistant_message', text: 'one!' },
  { type: 'user_message', text: 'two.' },
  { type: 'assistant_message', text: 'two!' },
];

const shown = (message: ModelRequest['messages'][number]): string => {
  const text = messageText(message) ?? '?';
  const [, removed, tokens] = /^\[context-trimmed\] (\d+) .*?~(\d+)/.exec(text) ?? [];
  return removed === undefined ? text : `[${removed}~${tokens ?? ''}]`;
};

const all = ['one.', 'one!', 'two.', 'two!', 'new?'];

/** What a turn sent of the two exchanges and `new?`, and how it ended. */
async function trimmedTurn(overrides: Partial<AgentConfig>, contextPolicy?: ContextPolicy) {
  const llm = new ScriptedLlm([say('Hi.')]);
  const log = new FakeSessionLog({ rows: older });
  const trimming = { context_trim_threshold: 1, context_keep_recent: 1, ...overrides };
  const loop = new DefaultAgentLoop(config(trimming), { contextPolicy });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log }), 'new?');
  expect(log.rows.slice(0, 4)).toEqual(older);
  return { outcome, sent: llm.requests.map(({ messages }) => messages.map(shown)) };
}

/** The plain behaviour, one line away (X7). */
const plainTrim: ContextPolicy = ({ messages, systemTokens, config: of }) =>
  trimContext(
    messages,
    systemTokens,
    of.context_window_tokens,
    of.context_trim_threshold,
    of.context_keep_recent,
  );

const cases: [string, Partial<AgentConfig>, string[], string | null][] = [
  ['as much as the window', { context_window_tokens: 28 }, all, null],
  [
    'one over',
    { context_window_tokens: 27 },
    ['[4~20]', 'new?'],
    'the request needs 50 tokens and the budget is 27',
  ],
  ['half a window', { context_window_tokens: 56, context_trim_threshold: 0.5 }, all, null],
  [
    'three to keep',
    { context_window_tokens: 27, context_keep_recent: 3 },
    ['[2~10]', 'two.', 'two!', 'new?'],
    'the request needs 50 tokens and the budget is 27',
  ],
  ['no trimming', { context_window_tokens: 0 }, all, null],
  [
    'a longer prompt',
    { context_window_tokens: 28, system_prompt: 'Be very brief.' },
    ['[4~20]', 'new?'],
    'the request needs 51 tokens and the budget is 28',
  ],
];

test.each(cases)(
  'L5.1 L5.3 X7 with trimContext as its policy a turn sends the trimmed history: %s',
  async (_, overrides, expected) => {
    const turn = await trimmedTurn(overrides, plainTrim);
    expect(turn).toEqual({ outcome: 'completed', sent: [expected] });
  },
);

test.each(cases)(
  'L5.1 L5.3 X7 by default a turn sends what fits or nothing: %s',
  async (_, overrides, expected, numbers) => {
    const left = 'context budget exceeded: with everything left out that can be, ';
    expect(await trimmedTurn(overrides)).toEqual(
      numbers === null
        ? { outcome: 'completed', sent: [expected] }
        : { outcome: { error: { kind: 'generate', message: left + numbers } }, sent: [] },
    );
  },
);

test('L5.1 the snapshot is the next request, and changes nothing', async () => {
  const llm = new ScriptedLlm([say('Hi.'), say('Bye.')]);
  const log = new FakeSessionLog();
  const ctx = testContext({ llm, log, tools: new FakeToolRegistry({ time: () => 0 }) });
  const loop = new DefaultAgentLoop(config());
  await loop.runTurn(ctx, 'Hello.');
  const before = log.events();
  const snapshot = loop.contextSnapshot(ctx);
  expect(log.events()).toEqual(before);
  expect(llm.requests).toHaveLength(1);
  await loop.runTurn(ctx, null);
  expect(llm.requests[1]).toEqual(snapshot);
});

test('L5.1 L5.8 the snapshot prices each message once', () => {
  const log = new FakeSessionLog({ rows: older });
  const loop = new DefaultAgentLoop(config());
  const ctx = testContext({ llm: new ScriptedLlm([]), log });
  let priced = 0;
  const snapshot = withMessageEstimator(
    () => (priced += 1),
    () => loop.contextSnapshot(ctx),
  );
  expect(priced).toBe(4);
  expect(snapshot.messages.map(messageText)).toEqual(['one.', 'one!', 'two.', 'two!']);
});

test('L2.1 a snapshot needs a log and tools but no model', () => {
  const loop = new DefaultAgentLoop(config());
  const ctx = Context.root();
  expect(() => loop.contextSnapshot(ctx)).toThrow(
    new AgentError('missing SessionLog service in context'),
  );
  ctx.provide(SESSION_LOG_SERVICE, new FakeSessionLog());
  expect(() => loop.contextSnapshot(ctx)).toThrow(
    new AgentError('missing ToolRegistryService in context'),
  );
  ctx.provide(TOOL_REGISTRY_SERVICE, new FakeToolRegistry());
  expect(ctx.has(LLM_SERVICE)).toBe(false);
  expect(loop.contextSnapshot(ctx)).toEqual(asked([], []));
});
