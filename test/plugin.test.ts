import {
  AGENT_LOOP_SERVICE,
  AgentError,
  Context,
  defaultAgentConfig as coreConfig,
  definePlugin,
  LLM_SERVICE,
  mountPlugins,
  pluginNames,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type LoopEvent,
  type Plugin,
} from '@celestea/core';
import { expect, test } from 'vitest';

import {
  agentLoopPlugin,
  createAgentLoop,
  DefaultAgentLoop,
  defaultAgentConfig,
} from '../src/index.ts';
import {
  collectingSink,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
} from '../src/testing/index.ts';
import { createUsageTracker } from '../src/usage.ts';

const services = (llm: ScriptedLlm, log: FakeSessionLog): Plugin =>
  definePlugin('services', (ctx) => {
    ctx
      .provide(LLM_SERVICE, llm)
      .provide(SESSION_LOG_SERVICE, log)
      .provide(TOOL_REGISTRY_SERVICE, new FakeToolRegistry());
  });

test('L7.5 the plugin provides a loop and has a name', () => {
  const ctx = Context.root();
  const plugin = agentLoopPlugin(defaultAgentConfig());
  expect(pluginNames([plugin, agentLoopPlugin(defaultAgentConfig(), {}, 'mine')])).toEqual([
    'celestea.agent-loop.DefaultAgentLoop',
    'mine',
  ]);
  expect(ctx.has(AGENT_LOOP_SERVICE)).toBe(false);
  plugin.mount(ctx);
  expect(ctx.get(AGENT_LOOP_SERVICE)).toBeInstanceOf(DefaultAgentLoop);
  expect(ctx.localTokens()).toEqual([AGENT_LOOP_SERVICE]);
});

test.each(['before', 'after'])('L7.5 it is mounted %s the services of its turns', async (when) => {
  const llm = new ScriptedLlm([say('Hi.')]);
  const log = new FakeSessionLog();
  const plugins = [agentLoopPlugin(defaultAgentConfig()), services(llm, log)];
  const ctx = mountPlugins(Context.root(), when === 'before' ? plugins : plugins.reverse());
  await ctx.require(AGENT_LOOP_SERVICE).runTurn(ctx, 'Hello.');
  expect(log.rows).toEqual([
    { type: 'turn_start', id: 'turn-0' },
    { type: 'user_message', text: 'Hello.' },
    { type: 'assistant_message', text: 'Hi.' },
    { type: 'turn_end', id: 'turn-0', outcome: 'completed' },
  ]);
});

test('L7.5 each turn finds the services of its own scope at its own time', async () => {
  const llm = new ScriptedLlm([say('1'), say('2'), say('3')]);
  const first = new FakeSessionLog();
  const second = new FakeSessionLog();
  const inner = new FakeSessionLog();
  const ctx = Context.root();
  agentLoopPlugin(defaultAgentConfig()).mount(ctx);
  const loop = ctx.require(AGENT_LOOP_SERVICE);
  await expect(loop.runTurn(ctx, 'Too early.')).rejects.toBeInstanceOf(AgentError);
  services(llm, first).mount(ctx);
  await loop.runTurn(ctx, 'One.');
  ctx.provide(SESSION_LOG_SERVICE, second);
  await loop.runTurn(ctx, 'Two.');
  await loop.runTurn(ctx.scoped().provide(SESSION_LOG_SERVICE, inner), 'Three.');
  const said = [first, second, inner].map(({ rows }) =>
    rows.filter(({ type }) => type === 'user_message'),
  );
  expect(said).toEqual([
    [{ type: 'user_message', text: 'One.' }],
    [{ type: 'user_message', text: 'Two.' }],
    [{ type: 'user_message', text: 'Three.' }],
  ]);
});

test('L7.5 a later mount wins, with its own configuration and bindings', async () => {
  const llm = new ScriptedLlm([say('Hi.'), say('Hi.')]);
  const early: LoopEvent[] = [];
  const { sink, events } = collectingSink();
  const ctx = mountPlugins(Context.root(), [
    agentLoopPlugin(defaultAgentConfig({ model: 'early' }), { sink: (event) => early.push(event) }),
    services(llm, new FakeSessionLog()),
    agentLoopPlugin(defaultAgentConfig({ model: 'late' }), { sink }),
  ]);
  await ctx.require(AGENT_LOOP_SERVICE).runTurn(ctx, 'Hello.');
  expect(llm.requests.map(({ model }) => model)).toEqual(['late']);
  expect(early).toEqual([]);
  expect(events).toEqual([
    { kind: 'text', delta: 'Hi.' },
    { kind: 'done', text: 'Hi.', tool_calls: [] },
    { kind: 'turn_end', outcome: 'completed' },
  ]);
});

test('L1 a loop as a value has its configuration, frozen and its own, and its tracker', () => {
  const config = defaultAgentConfig({ model: 'm-1' });
  const usage = createUsageTracker();
  const loop = createAgentLoop(config, { usage });
  config.model = 'm-2';
  expect(loop).toBeInstanceOf(DefaultAgentLoop);
  expect(loop.agentConfig.model).toBe('m-1');
  expect(Object.isFrozen(loop.agentConfig)).toBe(true);
  expect(loop.usageTracker).toBe(usage);
  expect(createAgentLoop(config).usageTracker).toBeUndefined();
  expect(defaultAgentConfig).toBe(coreConfig);
});
