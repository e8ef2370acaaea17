import { agentLoopPlugin, createAgentLoop } from '@celestea/agent-loop';
import {
  callTools,
  done,
  failingLlm,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  type Script,
} from '@celestea/agent-loop/testing';
import { AGENT_LOOP_SERVICE, defaultAgentConfig, mountPlugins, type Context } from '@celestea/core';
import { SpanKind } from '@opentelemetry/api';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { expect, test } from 'vitest';

import { traceLoop, traceLoopPlugin, tracedLlm, tracedTools } from '../src/index.ts';
import { endOf, fine, recorder } from './support/recorder.ts';

const config = defaultAgentConfig({ model: 'm-1' });
const usage = {
  prompt_tokens: 10,
  completion_tokens: 4,
  total_tokens: 14,
  cache_read: 3,
  reasoning_tokens: 1,
};

const scripts = (): Script[] => [
  [
    { kind: 'text', text: 'Let me look.' },
    done('Let me look.', { id: 'a', name: 'time', args: {} }, { id: 'b', name: 'zone', args: {} }),
    { kind: 'usage', usage },
  ],
  [{ kind: 'usage', usage }, ...say('It is noon.')],
];

const context = (): Context =>
  testContext({
    llm: new ScriptedLlm(scripts()),
    tools: new FakeToolRegistry({ time: () => '12:00', zone: () => 'UTC' }),
  });

const TREE = [
  'invoke_agent clock',
  '  step 0',
  '    chat m-1',
  '    execute_tool time',
  '    execute_tool zone',
  '  step 1',
  '    chat m-1',
];

test('a turn is a tree of steps, model calls and tool calls', async () => {
  const { tracer, tree, expectAllEnded } = recorder();
  const loop = traceLoop(createAgentLoop(config), { tracer, agentName: 'clock' });
  expect(await loop.runTurnOutcome(context(), 'What time is it?')).toBe('completed');
  expect(tree()).toEqual(TREE);
  expectAllEnded();
});

test('a turn that is pulled has the same tree', async () => {
  const { tracer, tree, expectAllEnded } = recorder();
  const loop = traceLoop(createAgentLoop(config), { tracer, agentName: 'clock' });
  const turn = loop.streamTurn(context(), 'What time is it?');
  const kinds: string[] = [];
  for await (const { kind } of turn) kinds.push(kind);
  expect(kinds.at(-1)).toBe('turn_end');
  expect(await turn.outcome).toBe('completed');
  expect(tree()).toEqual(TREE);
  expectAllEnded();
});

test('a turn of a loop that is mounted as a plugin has the same tree', async () => {
  const { tracer, tree, expectAllEnded } = recorder();
  const plugins = [agentLoopPlugin(config), traceLoopPlugin({ tracer, agentName: 'clock' })];
  const ctx = mountPlugins(context(), plugins);
  await ctx.require(AGENT_LOOP_SERVICE).runTurn(ctx, 'What time is it?');
  expect(tree()).toEqual(TREE);
  expectAllEnded();
});

test('seams that are traced already are not traced twice', async () => {
  const { tracer, tree } = recorder();
  const ctx = testContext({
    llm: tracedLlm(new ScriptedLlm(scripts()), { tracer }),
    tools: tracedTools(new FakeToolRegistry({ time: () => 1, zone: () => 2 }), { tracer }),
  });
  const loop = traceLoop(createAgentLoop(config), { tracer, agentName: 'clock' });
  await loop.runTurn(ctx, 'What time is it?');
  expect(tree()).toEqual(TREE);
});

test('the span of a turn says whose it is, how it ended and what it cost', async () => {
  const { tracer, span } = recorder();
  const loop = traceLoop(createAgentLoop(config), {
    tracer,
    agentName: 'clock',
    providerName: 'openai',
    conversationId: 's-1',
  });
  await loop.runTurn(context(), 'What time is it?');
  const { attributes, kind, status } = span('invoke_agent clock');
  expect(kind).toBe(SpanKind.INTERNAL);
  expect(status).toEqual({ code: 0 });
  expect(attributes).toEqual({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'clock',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'm-1',
    'gen_ai.conversation.id': 's-1',
    'gen_ai.usage.input_tokens': 20,
    'gen_ai.usage.output_tokens': 8,
    'gen_ai.usage.cache_read.input_tokens': 6,
    'gen_ai.usage.reasoning.output_tokens': 2,
    'celestea.outcome': 'completed',
    'celestea.steps': 2,
  });
});

test('the span of a model call says what was asked for and what the reply came to', async () => {
  const { tracer, span } = recorder();
  const llm = new ScriptedLlm([
    [{ kind: 'usage', usage }, { ...done('Noon.'), finish: 'stop' } as never],
  ]);
  const loop = traceLoop(createAgentLoop(config), { tracer, providerName: 'openai' });
  await loop.runTurnOutcome(testContext({ llm }), 'What time is it?', {
    prepareStep: (request) => ({ ...request, model: 'm-2', max_tokens: 9, temperature: 0 }),
  });
  const { attributes, kind } = span('chat m-2');
  expect(kind).toBe(SpanKind.CLIENT);
  expect(attributes).toEqual({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'm-2',
    'gen_ai.request.stream': true,
    'gen_ai.request.max_tokens': 9,
    'gen_ai.request.temperature': 0,
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.response.time_to_first_chunk': expect.any(Number) as number,
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 4,
    'gen_ai.usage.cache_read.input_tokens': 3,
    'gen_ai.usage.reasoning.output_tokens': 1,
    'celestea.outcome': 'completed',
  });
});

test('the spans of a step and of a tool call say which they are', async () => {
  const { tracer, span } = recorder();
  await traceLoop(createAgentLoop(config), { tracer }).runTurn(context(), 'What time is it?');
  expect(span('step 1').attributes).toEqual({ 'celestea.step': 1 });
  const { attributes, kind } = span('execute_tool zone');
  expect(kind).toBe(SpanKind.INTERNAL);
  expect(attributes).toEqual({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'zone',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': 'b',
    'celestea.outcome': 'completed',
  });
});

test('a conversation is found by the scope of its turn', async () => {
  const { tracer, ended } = recorder();
  const loop = traceLoop(createAgentLoop(config), {
    tracer,
    conversationId: (ctx) => ctx.get<string>('session'),
  });
  await loop.runTurn(context().provide('session', 's-7'), 'What time is it?');
  await loop.runTurn(context(), 'What time is it?');
  const ids = ended().map(({ attributes }) => attributes['gen_ai.conversation.id']);
  expect(ids.filter((id) => id !== undefined)).toEqual(['s-7']);
});

test('a finder of conversations that throws disturbs no turn', async () => {
  const { tracer, span } = recorder();
  const conversationId = (): never => {
    throw new Error('no session');
  };
  const loop = traceLoop(createAgentLoop(config), { tracer, conversationId });
  await loop.runTurn(context(), 'What time is it?');
  expect(endOf(span('invoke_agent'))).toEqual(fine('completed'));
  expect(span('invoke_agent').attributes['gen_ai.request.model']).toBe('m-1');
});

test('a reply that comes in parts is one, and what it cost is their sum', async () => {
  const { tracer, span } = recorder();
  const part = (text: string): Script => [done(text), { kind: 'usage', usage }];
  const llm = new ScriptedLlm([[...part('It is '), ...part('noon.')]]);
  const loop = traceLoop(createAgentLoop(config), { tracer, captureContent: true });
  await loop.runTurn(testContext({ llm }), 'What time is it?');
  const { attributes } = span('chat m-1');
  expect(attributes['gen_ai.usage.input_tokens']).toBe(20);
  expect(JSON.parse(String(attributes['gen_ai.output.messages']))).toMatchObject([
    { parts: [{ content: 'It is ' }, { content: 'noon.' }] },
  ]);
});

test('what the loop gives besides turns is its own', () => {
  const inner = createAgentLoop(config);
  const loop = traceLoop(inner);
  const ctx = context();
  expect(loop.agentConfig).toBe(inner.agentConfig);
  expect(loop.usageTracker).toBe(inner.usageTracker);
  expect(loop.contextSnapshot(ctx)).toEqual(inner.contextSnapshot(ctx));
});

test('a name that no tool has is not told', async () => {
  const { tracer, span, tree } = recorder();
  const secret = { id: 'a', name: 'the password is 1234', args: {} };
  const llm = new ScriptedLlm([callTools(secret), say('Sorry.')]);
  await traceLoop(createAgentLoop(config), { tracer }).runTurn(testContext({ llm }), 'Go.');
  expect(tree().join()).not.toContain('password');
  expect(JSON.stringify(span('execute_tool').attributes)).not.toContain('password');
});

test('every attribute is one of the conventions, or one of our own', async () => {
  const { tracer, ended } = recorder();
  const loop = traceLoop(createAgentLoop(defaultAgentConfig({ system_prompt: 'Be kind.' })), {
    tracer,
    agentName: 'clock',
    providerName: 'openai',
    conversationId: 's-1',
    captureContent: true,
  });
  await loop.runTurnOutcome(context(), 'What time is it?', {
    prepareStep: (request) => ({ ...request, max_tokens: 9, temperature: 0 }),
  });
  await loop.runTurn(testContext({ llm: failingLlm(new Error('no')) }), 'What time is it?');
  const names = new Set(ended().flatMap(({ attributes }) => Object.keys(attributes)));
  const known = Object.values<unknown>(conventions);
  expect([...names].filter((name) => !known.includes(name)).sort()).toEqual([
    'celestea.outcome',
    'celestea.step',
    'celestea.steps',
  ]);
  expect(names.size).toBe(25);
});
