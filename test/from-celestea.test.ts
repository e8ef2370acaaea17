import {
  assistantText,
  Context,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  userMessage,
  zeroUsage,
  type AgentConfig,
  type AgentLoop,
  type LoopEvent,
  type TurnOutcome,
} from '@celestea/core';
import * as core from '@celestea/core';
import { expect, test } from 'vitest';

// By the package's name, as a host imports it: each of these was there before the port.
import {
  agentLoopPlugin,
  CANCELLED_BEFORE_EXECUTION,
  closeIterator,
  createAgentLoop,
  createUsageTracker,
  decisionLabel,
  DefaultAgentLoop,
  defaultAgentConfig,
  doneEvent,
  errorMessage,
  estimateImageTokens,
  estimateMessagesTokens,
  estimateMessageTokens,
  estimateTokens,
  IMAGE_BASE_TOKENS,
  IMAGE_PIXEL_DIVISOR,
  isAborted,
  loopEventToSse,
  raceAbort,
  toolCallEvent,
  toolResultEvent,
  TRIMMED_MARKER_PREFIX,
  trimContext,
  trimmedMarkerMessage,
  turnEndEvent,
  UsageTracker,
  withMessageEstimator,
  type AgentLoopBindings,
  type EventSink,
  type MessageEstimator,
  type RaceResult,
  type SseFrame,
  type TrimOutcome,
  type TrimResult,
} from '@celestea/agent-loop';
import { FakeSessionLog, FakeToolRegistry, say, ScriptedLlm } from '@celestea/agent-loop/testing';

/** A scope whose services stand under plain strings, as an older host wrote them. */
const scope = (log = new FakeSessionLog()): Context =>
  Context.root()
    .provide('celestea.core.Llm', new ScriptedLlm([say('hi'), say('again')]))
    .provide('celestea.core.SessionLog', log)
    .provide('celestea.core.ToolRegistry', new FakeToolRegistry());

test('L1 L7.5 a host that mounts the plugin finds the loop under its string, and runs turns', async () => {
  const events: LoopEvent[] = [];
  const sink: EventSink = (event) => {
    events.push(event);
  };
  const usage: UsageTracker = createUsageTracker();
  const bindings: AgentLoopBindings = { signal: new AbortController().signal, sink, usage };
  const plugin = agentLoopPlugin(defaultAgentConfig({ max_steps: 2 }), bindings);
  expect(plugin.name()).toBe('celestea.agent-loop.DefaultAgentLoop');
  expect(agentLoopPlugin(defaultAgentConfig(), {}, 'mine').name()).toBe('mine');
  const log = new FakeSessionLog();
  const ctx = scope(log);
  plugin.mount(ctx);
  await ctx.require<AgentLoop>('celestea.core.AgentLoop').runTurn(ctx, 'hello');
  expect(events.map(({ kind }) => kind)).toEqual(['text', 'done', 'turn_end']);
  expect(log.rows.map(({ type }) => type)).toEqual([
    'turn_start',
    'user_message',
    'assistant_message',
    'turn_end',
  ]);
});

test('L1 a loop as a value has its settings, its tracker, outcomes and a snapshot', async () => {
  const config: AgentConfig = defaultAgentConfig();
  const loop: DefaultAgentLoop = createAgentLoop(config, { usage: new UsageTracker() });
  expect(loop).toBeInstanceOf(DefaultAgentLoop);
  expect(loop.agentConfig).toEqual({
    model: 'deepseek-chat',
    system_prompt: expect.stringContaining('celestea') as string,
    max_steps: 16,
    max_parallel_tool_calls: 4,
    context_window_tokens: 65_536,
    context_trim_threshold: 0.8,
    context_keep_recent: 10,
  });
  const ctx = scope();
  const outcome: TurnOutcome = await loop.runTurnOutcome(ctx, 'hello', []);
  expect(outcome).toBe('completed');
  expect(loop.contextSnapshot(ctx).messages).toEqual([userMessage('hello'), assistantText('hi')]);
  expect(loop.usageTracker?.total()).toEqual(zeroUsage());
});

test('C5.3 the service ids are the strings that hosts know', () => {
  const ids = Object.entries(core).flatMap(([name, id]) => (name.endsWith('_SERVICE') ? [id] : []));
  expect(ids.sort()).toEqual([
    'celestea.core.AgentLoop',
    'celestea.core.Llm',
    'celestea.core.LlmRegistry',
    'celestea.core.SessionLog',
    'celestea.core.ToolGuard',
    'celestea.core.ToolRegistry',
  ]);
});

test.each([
  [LLM_SERVICE, 'missing LlmService in context'],
  [SESSION_LOG_SERVICE, 'missing SessionLog service in context'],
  [TOOL_REGISTRY_SERVICE, 'missing ToolRegistryService in context'],
])('L2.1 without %s a turn is refused with the known words', async (token, message) => {
  const ctx = scope();
  ctx.provide(String(token), undefined);
  const turn = new DefaultAgentLoop(defaultAgentConfig()).runTurn(ctx, 'hello');
  await expect(turn).rejects.toThrow(message);
});

test('L6.1 L6.2 L6.3 the primitives of cancelling are there', async () => {
  const raced: RaceResult<number> = await raceAbort(undefined, Promise.resolve(1));
  expect(raced).toEqual({ outcome: 'ok', value: 1 });
  expect(await raceAbort(AbortSignal.abort(), 1)).toEqual({ outcome: 'aborted' });
  expect([isAborted(undefined), isAborted(AbortSignal.abort())]).toEqual([false, true]);
  let closed = 0;
  closeIterator({
    next: () => Promise.reject(new Error('unused')),
    return: () => {
      closed += 1;
      return Promise.reject(new Error('swallowed'));
    },
  });
  expect(closed).toBe(1);
  expect([errorMessage(new Error('x')), errorMessage(7)]).toEqual(['x', '7']);
  expect(CANCELLED_BEFORE_EXECUTION).toBe('cancelled before execution');
});

test('L5.2 L5.7 L5.8 the context budget is there', () => {
  const result: TrimResult = trimContext([userMessage('hi')], 0, 65_536, 0.8, 10);
  const outcome: TrimOutcome = result.outcome;
  expect(outcome).toEqual({ removedMessages: 0, removedTokens: 0, trimmed: false });
  expect([estimateTokens('12345'), estimateImageTokens(0, 0)]).toEqual([2, IMAGE_BASE_TOKENS]);
  expect(estimateImageTokens(IMAGE_PIXEL_DIVISOR, 1)).toBe(IMAGE_BASE_TOKENS + 1);
  expect(estimateMessageTokens(userMessage('1234'))).toBe(5);
  expect(estimateMessagesTokens([userMessage('1234')], () => 3)).toBe(3);
  const three: MessageEstimator = () => 3;
  const counted = withMessageEstimator(three, () => estimateMessagesTokens([userMessage('1234')]));
  expect(counted).toBe(3);
  expect(core.messageText(trimmedMarkerMessage(2, 9))?.startsWith(TRIMMED_MARKER_PREFIX)).toBe(true);
});

test('L7.1 L7.4 the events and their frames are there', () => {
  const call = { id: 'a', name: 'time', args: {} };
  const frame: SseFrame = loopEventToSse(toolCallEvent(call));
  expect(frame).toEqual({ event: 'tool', payload: call });
  const decision = { kind: 'deny', reason: 'no' } as const;
  const output = { call_id: 'a', value: null, render: null, error: 'no', decision };
  expect(toolResultEvent(output)).toMatchObject({ callId: 'a', ok: false, decision: 'deny' });
  expect(decisionLabel(decision)).toBe('deny');
  expect(doneEvent(assistantText('hi'))).toMatchObject({ kind: 'done', text: 'hi' });
  expect(loopEventToSse(turnEndEvent('step_limit')).payload).toEqual({
    outcome: 'step_limit',
    error: null,
  });
});
