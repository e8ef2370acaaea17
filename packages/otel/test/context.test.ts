import { createAgentLoop } from '@celestea/agent-loop';
import {
  callTools,
  FakeToolRegistry,
  Gate,
  say,
  ScriptedLlm,
  testContext,
  type Script,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  type Llm,
  type StreamEvent,
  type ToolRegistry,
} from '@celestea/core';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { traceLoop, tracedLlm, tracedTools } from '../src/index.ts';
import { recorder } from './support/recorder.ts';

beforeEach(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});

afterEach(() => {
  context.disable();
});

const config = defaultAgentConfig({ model: 'm' });
const call = (id: string, name: string): { id: string; name: string; args: object } => ({
  id,
  name,
  args: {},
});

const turnOf = (llm: Llm, tools?: ToolRegistry): ReturnType<typeof testContext> =>
  testContext(tools === undefined ? { llm } : { llm, tools });

test('what a model does in generate, between its events and at its end is inside its call', async () => {
  const { tracer, tree, expectAllEnded } = recorder();
  const work = (name: string): void => {
    tracer.startSpan(name).end();
  };
  async function* reply(): AsyncGenerator<StreamEvent> {
    try {
      work('before words');
      yield { kind: 'text', text: 'Hi' };
      await new Promise(setImmediate);
      work('after words');
      yield* say('');
    } finally {
      work('at the end');
    }
  }
  const llm: Llm = {
    generate: async () => {
      work('request');
      await new Promise(setImmediate);
      work('response');
      return reply();
    },
  };
  const sink = (): void => {
    work('sink');
  };
  const loop = traceLoop(createAgentLoop(config), { tracer });
  await loop.runTurnOutcome(turnOf(llm), 'Go.', { sink });
  expect(tree()).toEqual([
    'invoke_agent',
    '  step 0',
    '    chat m',
    '      request',
    '      response',
    '      before words',
    '      after words',
    '      at the end',
    '  sink',
    '  sink',
    '  sink',
    '  sink',
  ]);
  expectAllEnded();
});

test('what a reader who leaves makes a stream do is inside its call', async () => {
  const { tracer, tree } = recorder();
  async function* reply(): AsyncGenerator<StreamEvent> {
    try {
      yield { kind: 'text', text: 'Hi' };
      await Promise.resolve();
      yield* say('');
    } finally {
      tracer.startSpan('closed').end();
    }
  }
  const llm = tracedLlm({ generate: () => Promise.resolve(reply()) }, { tracer });
  const stream = await llm.generate({
    model: 'm',
    system: null,
    messages: [],
    tools: [],
    max_tokens: null,
    temperature: null,
  });
  for await (const event of stream) if (event.kind === 'text') break;
  expect(tree()).toEqual(['chat m', '  closed']);
});

test('each of several tools that run at once has its own context', async () => {
  const { tracer, tree, expectAllEnded } = recorder();
  const gates = { a: new Gate(), b: new Gate() };
  const tool = (name: 'a' | 'b') => async (): Promise<void> => {
    tracer.startSpan(`${name} begins`).end();
    await gates[name].wait();
    tracer.startSpan(`${name} ends`).end();
  };
  const tools = new FakeToolRegistry({ a: tool('a'), b: tool('b') });
  const llm = new ScriptedLlm([callTools(call('1', 'a'), call('2', 'b')), say('Done.')]);
  const loop = traceLoop(createAgentLoop(config), { tracer });
  const turn = loop.runTurn(turnOf(llm, tools), 'Go.');
  while (gates.b.waiting === 0) await new Promise(setImmediate);
  gates.b.open();
  await new Promise(setImmediate);
  gates.a.open();
  await turn;
  expect(tree().slice(1, 9)).toEqual([
    '  step 0',
    '    chat m',
    '    execute_tool a',
    '      a begins',
    '      a ends',
    '    execute_tool b',
    '      b begins',
    '      b ends',
  ]);
  expectAllEnded();
});

test('a call that a tool makes is a child of the call of that tool', async () => {
  const { tracer, tree, expectAllEnded } = recorder();
  const registry = new FakeToolRegistry({
    outer: async () => {
      await new Promise(setImmediate);
      await tools.dispatch({ call_id: '1.1', name: 'inner', args: {} });
      return 'done';
    },
    inner: () => 7,
  });
  const tools = tracedTools(registry, { tracer });
  const calls = callTools(call('1', 'outer'), call('2', 'inner'), call('3', 'outer'));
  const llm = new ScriptedLlm([calls, say('Done.')]);
  await traceLoop(createAgentLoop(config), { tracer }).runTurn(turnOf(llm, tools), 'Go.');
  expect(tree().slice(3, 8)).toEqual([
    '    execute_tool outer',
    '      execute_tool inner',
    '    execute_tool inner',
    '    execute_tool outer',
    '      execute_tool inner',
  ]);
  expectAllEnded();
});

test('a call that a tool makes ends with the step, when nothing else ends it', async () => {
  const { tracer, span, expectAllEnded } = recorder();
  const cancel = new AbortController();
  const registry = new FakeToolRegistry({
    outer: () => tools.dispatch({ call_id: '1.1', name: 'inner', args: {} }),
    inner: () => {
      setImmediate(() => { cancel.abort(); });
      return new Promise(() => undefined);
    },
  });
  const tools = tracedTools(registry, { tracer });
  const llm = new ScriptedLlm([callTools(call('1', 'outer'))]);
  const loop = traceLoop(createAgentLoop(config), { tracer });
  await loop.runTurn(turnOf(llm, tools), 'Go.', { signal: cancel.signal });
  expectAllEnded();
  expect(span('execute_tool inner').attributes['celestea.outcome']).toBe('abandoned');
});

test('a call that a tool makes after its turn has ended is on its own', async () => {
  const { tracer, span, ended, expectAllEnded } = recorder();
  const gate = new Gate();
  let late: Promise<unknown> = Promise.resolve();
  const registry = new FakeToolRegistry({
    outer: () => {
      late = gate
        .wait()
        .then(() => tools.dispatch({ call_id: '1.1', name: 'inner', args: {} }));
      return 'started';
    },
    inner: () => new Promise((resolve) => setImmediate(resolve, 7)),
  });
  const tools = tracedTools(registry, { tracer });
  const llm = new ScriptedLlm([callTools(call('1', 'outer')), say('Done.')]);
  await traceLoop(createAgentLoop(config), { tracer }).runTurn(turnOf(llm, tools), 'Go.');
  expect(ended().at(-1)?.name).toBe('invoke_agent');
  gate.open();
  await late;
  expect(span('execute_tool inner').attributes['celestea.outcome']).toBe('completed');
  expectAllEnded();
});

test('a turn is a child of what is active where it was started', async () => {
  const { tracer, tree } = recorder();
  const loop = traceLoop(createAgentLoop(config), { tracer });
  const llm = new ScriptedLlm([say('Hi.'), say('Ho.')]);
  const ctx = turnOf(llm);
  const span = tracer.startSpan('request');
  await context.with(trace.setSpan(context.active(), span), async () => {
    await loop.runTurn(ctx, 'Go.');
    await loop.streamTurn(ctx, 'Go on.').outcome;
  });
  span.end();
  expect(tree()).toEqual([
    'request',
    '  invoke_agent',
    '    step 0',
    '      chat m',
    '  invoke_agent',
    '    step 0',
    '      chat m',
  ]);
});

/** Two steps with two calls each, which wait for other turns to run. */
const busyScripts = (name: string): Script[] => [
  [() => new Promise(setImmediate), ...callTools(call('1', name), call('2', name))],
  [() => new Promise(setImmediate), ...callTools(call('3', name), call('4', name))],
  say('Done.'),
];

async function runMany(withManager: boolean): Promise<void> {
  if (!withManager) context.disable();
  const { tracer, ended, expectAllEnded } = recorder();
  const names = Array.from({ length: 50 }, (_, index) => `t${String(index)}`);
  await Promise.all(
    names.map((name) => {
      const tools = new FakeToolRegistry({
        [name]: async () => {
          await new Promise(setImmediate);
          tracer.startSpan(`in ${name}`).end();
        },
      });
      const named = createAgentLoop(defaultAgentConfig({ model: name }));
      const loop = traceLoop(named, { tracer, agentName: name });
      return loop.runTurn(turnOf(new ScriptedLlm(busyScripts(name)), tools), 'Go.');
    }),
  );
  expectAllEnded();
  const byId = new Map(ended().map((span) => [span.spanContext().spanId, span]));
  const parents = ended().map((span) => {
    const parent = byId.get(span.parentSpanContext?.spanId ?? '');
    return `${span.name} < ${parent?.name ?? 'nothing'}`;
  });
  const counts = new Map<string, number>();
  for (const pair of parents) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  const expected = names.flatMap((name): [string, number][] => [
    [`invoke_agent ${name} < nothing`, 1],
    ...[0, 1, 2].map((step): [string, number] => [
      `step ${String(step)} < invoke_agent ${name}`,
      1,
    ]),
    [`in ${name} < ${withManager ? `execute_tool ${name}` : 'nothing'}`, 4],
  ]);
  for (const [pair, count] of expected) expect([pair, counts.get(pair)]).toEqual([pair, count]);
  const traces = new Map<string, Set<string>>();
  for (const span of ended()) {
    const own = span.name.replace(/^in /, '').split(' ').at(-1) ?? '';
    if (!names.includes(own) || span.name.startsWith('in ')) continue;
    const { traceId } = span.spanContext();
    traces.set(own, (traces.get(own) ?? new Set()).add(traceId));
  }
  expect([...traces.values()].every(({ size }) => size === 1)).toBe(true);
  expect(traces.size).toBe(50);
}

test('fifty turns at once do not mix their spans', () => runMany(true));

test('fifty turns at once do not mix their spans without a context manager', () => runMany(false));
