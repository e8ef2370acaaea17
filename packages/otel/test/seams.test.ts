import { getEventListeners } from 'node:events';

import { createAgentLoop } from '@celestea/agent-loop';
import {
  FakeToolRegistry,
  HangingLlm,
  say,
  ScriptedLlm,
  testContext,
  type Script,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  type Context,
  type Llm,
  type ModelRequest,
  type ToolInput,
} from '@celestea/core';
import { trace, type Tracer } from '@opentelemetry/api';
import { expect, test, vi } from 'vitest';

import { traceLoop, tracedLlm, tracedTools, type TracedLoop } from '../src/index.ts';
import { endOf, faulty, fine, recorder } from './support/recorder.ts';

const request: ModelRequest = {
  model: '',
  system: null,
  messages: [],
  tools: [],
  max_tokens: null,
  temperature: null,
};

const input: ToolInput = { call_id: 'a', name: 'work', args: {} };

const hanging = (): Promise<never> => new Promise(() => undefined);

test('a model call by itself has a span, which ends with its stream', async () => {
  const { tracer, span, expectAllEnded } = recorder();
  const llm = tracedLlm(new ScriptedLlm([say('Hi.')]), { tracer, providerName: 'openai' });
  const kinds: string[] = [];
  for await (const { kind } of await llm.generate(request)) kinds.push(kind);
  expect(kinds).toEqual(['text', 'done']);
  expect(endOf(span('chat'))).toEqual(fine('completed'));
  expect(span('chat').attributes['gen_ai.provider.name']).toBe('openai');
  expectAllEnded();
});

test('a model call whose reader leaves is abandoned', async () => {
  const { tracer, span, expectAllEnded } = recorder();
  const inner = new HangingLlm([{ kind: 'text', text: 'He' }]);
  const llm = tracedLlm(inner, { tracer });
  for await (const event of await llm.generate(request)) if (event.kind === 'text') break;
  expect(inner.closed).toBe(1);
  expect(endOf(span('chat'))).toEqual(fine('abandoned'));
  expectAllEnded();
});

test('a model call ends when its signal aborts, and leaves no listener', () => {
  const { tracer, span, expectAllEnded } = recorder();
  const { signal, abort } = controller();
  void tracedLlm(new HangingLlm(), { tracer }).generate(request, { signal });
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  abort();
  expect(endOf(span('chat'))).toEqual(fine('cancelled'));
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  void tracedLlm(new HangingLlm(), { tracer }).generate(request, { signal });
  expectAllEnded();
});

test('a tool call by itself has a span, which ends with its answer or when its signal aborts', async () => {
  const { tracer, ended, expectAllEnded } = recorder();
  const { signal, abort } = controller();
  const tools = tracedTools(new FakeToolRegistry({ work: () => 1, hang: hanging }), { tracer });
  expect(await tools.dispatch(input, { signal })).toMatchObject({ call_id: 'a', value: 1 });
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  await tools.dispatch({ ...input, name: 'none' });
  void tools.dispatch({ ...input, name: 'hang' }, { signal });
  abort();
  expect(ended().map(endOf)).toEqual([
    fine('completed'),
    faulty('error', 'tool_error'),
    fine('abandoned'),
  ]);
  expectAllEnded();
});

test.each([
  ['call_00-aZ.b:9', true],
  ['a'.repeat(128), true],
  ['a'.repeat(129), false],
  ['the key is 1234', false],
  ['tea\n', false],
  ['schlüssel', false],
  ['', false],
])('an id is told when it looks like one: %j', async (call_id, isTold) => {
  const { tracer, span } = recorder();
  const tools = tracedTools(new FakeToolRegistry({ work: () => 1 }), { tracer });
  await tools.dispatch({ ...input, call_id });
  const { attributes } = span('execute_tool work');
  expect(attributes['gen_ai.tool.call.id']).toBe(isTold ? call_id : undefined);
});

test('a thenable that a model gives is waited for once', async () => {
  const { tracer } = recorder();
  let waits = 0;
  const llm: Llm = {
    generate: () => {
      const stream = new ScriptedLlm([say('Hi.')]).generate(request);
      const then: typeof stream.then = (...given) => {
        waits += 1;
        return stream.then(...given);
      };
      return { then } as typeof stream;
    },
  };
  const loop = traceLoop(createAgentLoop(defaultAgentConfig()), { tracer });
  expect(await loop.runTurnOutcome(testContext({ llm }), 'Go.')).toBe('completed');
  expect(waits).toBe(1);
});

function controller(): { signal: AbortSignal; abort: () => void } {
  const made = new AbortController();
  return {
    signal: made.signal,
    abort: () => {
      made.abort();
    },
  };
}

/** What a turn of so many deltas does to its signal and its tracer. */
async function costs(deltas: number): Promise<Record<string, number>> {
  const { tracer, ended } = recorder();
  const texts = Array.from({ length: deltas }, () => ({ kind: 'text', text: 'x' }) as const);
  const script: Script = [...texts, ...say('')];
  const llm = new ScriptedLlm([script]);
  const startSpan = vi.spyOn(tracer, 'startSpan');
  const listen = vi.spyOn(AbortSignal.prototype, 'addEventListener');
  try {
    const loop = traceLoop(createAgentLoop(defaultAgentConfig()), { tracer });
    await loop.runTurn(testContext({ llm }), 'Go.', { signal: controller().signal });
    const attributes = ended().flatMap((span) => Object.keys(span.attributes)).length;
    return { spans: startSpan.mock.calls.length, listeners: listen.mock.calls.length, attributes };
  } finally {
    listen.mockRestore();
  }
}

test('no delta costs a span, an attribute, an event or a listener', async () => {
  const few = await costs(1);
  expect(await costs(2000)).toEqual(few);
  expect(few['spans']).toBe(3);
});

/** The scope that a loop hands its turn. */
async function scopeWith(tracer: Tracer | undefined): Promise<{ given: Context; used: Context }> {
  const given = testContext({ llm: new ScriptedLlm([say('Hi.')]) });
  let used = given;
  const inner = createAgentLoop(defaultAgentConfig());
  const watched: TracedLoop = {
    agentConfig: inner.agentConfig,
    usageTracker: undefined,
    contextSnapshot: (ctx) => inner.contextSnapshot(ctx),
    runTurn: (ctx, text) => inner.runTurn(ctx, text),
    streamTurn: (ctx, text) => inner.streamTurn(ctx, text),
    runTurnOutcome: (ctx, text) => {
      used = ctx;
      return inner.runTurnOutcome(ctx, text);
    },
  };
  await traceLoop(watched, { tracer }).runTurn(given, 'Go.');
  return { given, used };
}

test('without an SDK the loop gets the very scope it was given', async () => {
  const { given, used } = await scopeWith(undefined);
  expect(used).toBe(given);
});

test('a turn that is not sampled gets the very scope it was given', async () => {
  const tracer = trace.wrapSpanContext({ traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 0 });
  const unsampled = { startSpan: () => tracer } as unknown as Tracer;
  const { given, used } = await scopeWith(unsampled);
  expect(used).toBe(given);
});

test('a turn that is recorded gets a scope of its own', async () => {
  const { given, used } = await scopeWith(recorder().tracer);
  expect(used).not.toBe(given);
  expect(given.localTokens()).toEqual(testContext({ llm: new HangingLlm() }).localTokens());
});
