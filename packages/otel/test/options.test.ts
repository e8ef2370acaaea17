import { createAgentLoop, defaultAgentConfig } from '@celestea/agent-loop';
import { FakeToolRegistry, HangingLlm } from '@celestea/agent-loop/testing';
import { AGENT_LOOP_SERVICE, Context } from '@celestea/core';
import { expect, test } from 'vitest';

import { traceLoop, traceLoopPlugin, tracedLlm, tracedTools } from '../src/index.ts';

const wrong: readonly [options: unknown, message: string][] = [
  [null, 'options: expected an object, got null'],
  [{ tracer: {} }, 'tracer: expected a Tracer, got an object'],
  [{ captureContent: 'yes' }, 'captureContent: expected a boolean, got "yes"'],
  [{ contentBytes: 255 }, 'contentBytes: expected bytes, 256 or more, got 255'],
  [{ contentBytes: Number.NaN }, 'contentBytes: expected bytes, 256 or more, got NaN'],
  [{ providerName: 7 }, 'providerName: expected a text, got 7'],
  [{ agentName: 7 }, 'agentName: expected a text, got 7'],
  [{ conversationId: 7 }, 'conversationId: expected a text or a function, got 7'],
];

test.each(wrong)('the options %j are refused where they enter', (options, message) => {
  const given = options as object;
  const loop = createAgentLoop(defaultAgentConfig());
  const refused = new TypeError(message);
  expect(() => traceLoop(loop, given)).toThrow(refused);
  expect(() => traceLoopPlugin(given)).toThrow(refused);
  expect(() => tracedLlm(new HangingLlm(), given)).toThrow(refused);
  expect(() => tracedTools(new FakeToolRegistry(), given)).toThrow(refused);
});

test('what is no loop, no model or no registry is refused', () => {
  const nothing = {} as never;
  expect(() => traceLoop(nothing)).toThrow(/^loop: expected a loop with runTurnOutcome/);
  expect(() => tracedLlm(nothing)).toThrow('llm: expected a model with generate, got an object');
  expect(() => tracedTools(nothing)).toThrow('tools: expected a ToolRegistry, got an object');
});

test('the plugin says when there is no loop that it could trace', () => {
  const plugin = traceLoopPlugin();
  const ctx = Context.root();
  expect(() => { plugin.mount(ctx); }).toThrow(AGENT_LOOP_SERVICE);
  ctx.provide(AGENT_LOOP_SERVICE, { runTurn: () => Promise.resolve() });
  expect(() => { plugin.mount(ctx); }).toThrow(/^loop: expected a loop with runTurnOutcome/);
});
