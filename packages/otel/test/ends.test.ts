import { createAgentLoop } from '@celestea/agent-loop';
import {
  callTools,
  done,
  failingLlm,
  FakeSessionLog,
  FakeToolRegistry,
  Gate,
  HangingLlm,
  say,
  ScriptedLlm,
  testContext,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  LlmError,
  type Llm,
  type LlmStream,
  type StreamEvent,
  type ToolRegistry,
} from '@celestea/core';
import { diag, DiagLogLevel, type DiagLogger } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { traceLoop } from '../src/index.ts';
import { endOf, faulty, fine, recorder } from './support/recorder.ts';

const complaints: string[] = [];
const note = (message: string): void => {
  complaints.push(message);
};
const logger: DiagLogger = { error: note, warn: note, info: note, debug: note, verbose: note };

// the SDK complains of a span that ends twice, or is written to after its end
beforeEach(() => {
  complaints.length = 0;
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
});

afterEach(() => {
  diag.disable();
  expect(complaints).toEqual([]);
});

const call = (id: string, name = 'work'): { id: string; name: string; args: object } => ({
  id,
  name,
  args: {},
});

const hanging = (): Promise<never> => new Promise(() => undefined);

/** A model whose stream is what it is given, stream or none. */
const odd = (stream: unknown): Llm => ({ generate: () => Promise.resolve(stream as LlmStream) });

const throwing = (error: unknown) => (): never => {
  throw error;
};

interface Case {
  readonly title: string;
  readonly llm: Llm;
  readonly tools?: ToolRegistry;
  readonly log?: FakeSessionLog;
  /** How each span ends, by the first word of its name. */
  readonly ends: Readonly<Record<string, unknown>>;
  readonly timeouts?: { streamIdleMs?: number; toolMs?: number };
  readonly maxSteps?: number;
}

const works = (run: () => unknown): FakeToolRegistry => new FakeToolRegistry({ work: run });

const registryWith = (parts: Partial<ToolRegistry>): ToolRegistry =>
  Object.assign(works(() => 1), parts);

const cases: readonly Case[] = [
  {
    title: 'a turn that completes',
    llm: new ScriptedLlm([say('Hello.')]),
    ends: { invoke_agent: fine('completed'), chat: fine('completed') },
  },
  {
    title: 'a model that rejects',
    llm: failingLlm(new TypeError('the key is 1234')),
    ends: { invoke_agent: faulty('error', 'generate'), chat: faulty('error', 'TypeError') },
  },
  {
    title: 'a model that throws at once',
    llm: failingLlm('no', 'throw'),
    ends: { invoke_agent: faulty('error', 'generate'), chat: faulty('error', '_OTHER') },
  },
  {
    title: 'a model that is refused by its provider',
    llm: failingLlm(new LlmError('busy', 'generate', { httpStatus: 429 })),
    ends: { invoke_agent: faulty('error', 'generate'), chat: faulty('error', '429') },
  },
  {
    title: 'a model that ran out of time',
    llm: failingLlm(new LlmError('slow', 'timeout')),
    ends: { invoke_agent: faulty('error', 'generate'), chat: faulty('error', 'timeout') },
  },
  {
    title: 'an error whose name is a text',
    llm: failingLlm(Object.assign(new TypeError('x'), { name: 'the_key_is_1234' })),
    ends: { invoke_agent: faulty('error', 'generate'), chat: faulty('error', 'TypeError') },
  },
  {
    title: 'a stream that says that it failed',
    llm: new ScriptedLlm([[{ kind: 'failed', kindOf: 'stream', message: 'the key is 1234' }]]),
    ends: { invoke_agent: faulty('error', 'stream'), chat: faulty('error', 'stream') },
  },
  {
    title: 'a stream that throws after its words',
    llm: new ScriptedLlm([[{ kind: 'text', text: 'He' }, throwing(new RangeError('torn'))]]),
    ends: { invoke_agent: faulty('error', 'stream'), chat: faulty('error', 'RangeError') },
  },
  {
    title: 'a stream that is interrupted',
    llm: new ScriptedLlm([[{ kind: 'interrupted' }]]),
    ends: { invoke_agent: fine('interrupted'), chat: fine('interrupted') },
  },
  {
    title: 'a stream that ends without a reply',
    llm: new ScriptedLlm([[{ kind: 'text', text: 'He' }]]),
    ends: { invoke_agent: fine('interrupted'), chat: fine('interrupted') },
  },
  {
    title: 'a stream with an event that is none',
    llm: new ScriptedLlm([[{ kind: 'sing' } as unknown as StreamEvent, ...say('La.')]]),
    ends: { invoke_agent: faulty('error', 'stream'), chat: faulty('error', 'malformed') },
  },
  {
    title: 'a model that gives no stream',
    llm: odd(7),
    ends: { invoke_agent: faulty('error', 'generate'), chat: faulty('error', 'malformed') },
  },
  {
    title: 'a stream that gives no iterator',
    llm: odd({ [Symbol.asyncIterator]: () => null }),
    ends: { invoke_agent: faulty('error', 'stream'), chat: faulty('error', 'malformed') },
  },
  {
    title: 'a stream that gives a promise that rejects in the place of an iterator',
    llm: odd({ [Symbol.asyncIterator]: () => Promise.reject(new Error('no')) }),
    ends: { invoke_agent: faulty('error', 'stream'), chat: faulty('error', 'malformed') },
  },
  {
    title: 'a stream that cannot be opened',
    llm: odd({ [Symbol.asyncIterator]: throwing(new TypeError('no')) }),
    ends: { invoke_agent: faulty('error', 'stream'), chat: faulty('error', 'TypeError') },
  },
  {
    title: 'a stream whose next throws at once',
    llm: odd({ [Symbol.asyncIterator]: () => ({ next: throwing(new TypeError('no')) }) }),
    ends: { invoke_agent: faulty('error', 'stream'), chat: faulty('error', 'TypeError') },
  },
  {
    title: 'a model that is silent for too long',
    llm: new HangingLlm([{ kind: 'text', text: 'He' }]),
    timeouts: { streamIdleMs: 1 },
    ends: { invoke_agent: faulty('error', 'stream'), chat: faulty('error', 'timeout') },
  },
  {
    title: 'a turn that spends its steps',
    llm: new ScriptedLlm([callTools(call('a'))]),
    tools: works(() => 1),
    maxSteps: 1,
    ends: {
      invoke_agent: fine('step_limit'),
      chat: fine('completed'),
      execute_tool: fine('completed'),
    },
  },
  {
    title: 'a tool that throws',
    llm: new ScriptedLlm([callTools(call('a')), say('Sorry.')]),
    tools: works(throwing(new Error('the key is 1234'))),
    ends: { invoke_agent: fine('completed'), execute_tool: faulty('error', 'tool_error') },
  },
  ...(['deny', 'ask'] as const).map((kind) => ({
    title: `a call whose verdict is ${kind}`,
    llm: new ScriptedLlm([callTools(call('a')), say('Sorry.')]),
    tools: registryWith({
      dispatch: ({ call_id }) =>
        Promise.resolve({
          call_id,
          value: null,
          render: null,
          error: 'refused: the key is 1234',
          decision: { kind, reason: 'the key is 1234' },
        }),
    }),
    ends: { invoke_agent: fine('completed'), execute_tool: faulty('denied', 'denied') },
  })),
  {
    title: 'a registry that rejects',
    llm: new ScriptedLlm([callTools(call('a')), say('Sorry.')]),
    tools: registryWith({ dispatch: () => Promise.reject(new TypeError('no')) }),
    ends: { invoke_agent: fine('completed'), execute_tool: faulty('error', 'TypeError') },
  },
  {
    title: 'a registry that throws at once',
    llm: new ScriptedLlm([callTools(call('a')), say('Sorry.')]),
    tools: registryWith({ dispatch: throwing(new TypeError('no')) }),
    ends: { invoke_agent: fine('completed'), execute_tool: faulty('error', 'TypeError') },
  },
  {
    title: 'a registry that gives no output',
    llm: new ScriptedLlm([callTools(call('a')), say('Sorry.')]),
    tools: registryWith({ dispatch: () => undefined as never }),
    ends: { invoke_agent: fine('completed'), execute_tool: faulty('error', 'malformed') },
  },
  {
    title: 'a tool that takes too long',
    llm: new ScriptedLlm([callTools(call('a')), say('Sorry.')]),
    tools: works(hanging),
    timeouts: { toolMs: 1 },
    ends: { invoke_agent: fine('completed'), execute_tool: faulty('error', 'timeout') },
  },
];

test.each(cases)('every span ends once, with $title', async (given) => {
  const { llm, tools = works(() => 1), timeouts, maxSteps = 16, ends } = given;
  const { tracer, ended, expectAllEnded } = recorder();
  const config = defaultAgentConfig({ max_steps: maxSteps });
  const loop = traceLoop(createAgentLoop(config), { tracer });
  await loop.runTurn(testContext({ llm, tools }), 'Go.', { timeouts });
  expectAllEnded();
  const first = Object.keys(ends).map((word) => [
    word,
    endOf(ended().find(({ name }) => name.startsWith(word))),
  ]);
  expect(Object.fromEntries(first)).toEqual(ends);
  expect(JSON.stringify(ended().map(({ attributes, status, events }) => [attributes, status, events])))
    .not.toContain('1234');
});

const loopOf = (tracer: ReturnType<typeof recorder>['tracer']): ReturnType<typeof traceLoop> =>
  traceLoop(createAgentLoop(defaultAgentConfig()), { tracer });

test('every span ends once, with a turn that is cancelled before it starts', async () => {
  const { tracer, tree, span, expectAllEnded } = recorder();
  const ctx = testContext({ llm: new ScriptedLlm([say('Hi.')]) });
  await loopOf(tracer).runTurn(ctx, 'Go.', { signal: AbortSignal.abort() });
  expect(tree()).toEqual(['invoke_agent']);
  expect(endOf(span('invoke_agent'))).toEqual(fine('cancelled'));
  expectAllEnded();
});

test.each([
  ['in generate', undefined],
  ['in the stream', [{ kind: 'text', text: 'He' } as const]],
])('every span ends once, with a turn that is cancelled %s', async (_, events) => {
  const { tracer, span, ended, expectAllEnded } = recorder();
  const cancel = new AbortController();
  const inner = new HangingLlm(events);
  const llm: Llm = {
    generate: () => {
      setImmediate(() => { cancel.abort(); });
      return inner.generate();
    },
  };
  await loopOf(tracer).runTurn(testContext({ llm }), 'Go.', { signal: cancel.signal });
  expectAllEnded();
  expect(endOf(span('invoke_agent'))).toEqual(fine('cancelled'));
  expect(endOf(ended().find(({ name }) => name.startsWith('chat')))).toEqual(
    fine('cancelled'),
  );
});

test.each([
  ['ignores its signal', hanging],
  ['heeds its signal', (signal: AbortSignal | undefined) =>
    new Promise((_, reject) => {
      signal?.addEventListener('abort', () => { reject(new Error('stopped')); }, { once: true });
    })],
])('every span ends once, with a cancelled tool that %s', async (_, wait) => {
  const { tracer, span, expectAllEnded } = recorder();
  const cancel = new AbortController();
  const tools = new FakeToolRegistry({
    work: (_args, { signal }) => {
      setImmediate(() => { cancel.abort(); });
      return wait(signal);
    },
  });
  const ctx = testContext({ llm: new ScriptedLlm([callTools(call('a'))]), tools });
  await loopOf(tracer).runTurn(ctx, 'Go.', { signal: cancel.signal });
  expectAllEnded();
  expect(endOf(span('execute_tool work'))).toEqual(fine('abandoned'));
  expect(endOf(span('invoke_agent'))).toEqual(fine('cancelled'));
});

test('every span ends once, with a tool that answers after its turn was cancelled', async () => {
  const { tracer, expectAllEnded, ended } = recorder();
  const cancel = new AbortController();
  const gate = new Gate();
  const tools = new FakeToolRegistry({
    work: async () => {
      setImmediate(() => { cancel.abort(); });
      await gate.wait();
      return 'late';
    },
  });
  const ctx = testContext({ llm: new ScriptedLlm([callTools(call('a'))]), tools });
  await loopOf(tracer).runTurn(ctx, 'Go.', { signal: cancel.signal });
  const before = ended().length;
  gate.open();
  await new Promise(setImmediate);
  expect(ended()).toHaveLength(before);
  expectAllEnded();
});

test('every span ends once, with a stream that comes after its turn was cancelled', async () => {
  const { tracer, expectAllEnded, ended } = recorder();
  const cancel = new AbortController();
  const gate = new Gate();
  const script = new ScriptedLlm([say('Late.')]);
  const llm: Llm = {
    generate: async (request) => {
      setImmediate(() => { cancel.abort(); });
      await gate.wait();
      return script.generate(request);
    },
  };
  await loopOf(tracer).runTurn(testContext({ llm }), 'Go.', { signal: cancel.signal });
  const before = ended().length;
  gate.open();
  await new Promise(setImmediate);
  expect(script.fates).toEqual(['closed']);
  expect(ended()).toHaveLength(before);
  expectAllEnded();
});

test('every span ends once, with a reader who leaves a stream of events', async () => {
  const { tracer, span, tree, expectAllEnded } = recorder();
  const llm = new HangingLlm([{ kind: 'text', text: 'He' }]);
  const turn = loopOf(tracer).streamTurn(testContext({ llm }), 'Go.');
  for await (const event of turn) if (event.kind === 'text') break;
  expect(llm.closed).toBe(1);
  expectAllEnded();
  expect(tree()).toHaveLength(3);
  expect(endOf(span('invoke_agent'))).toEqual(fine('cancelled'));
});

test.each(['user_message', 'tool_call', 'tool_result', 'turn_end'])(
  'every span ends once, with a log that breaks at %s',
  async (type) => {
    const { tracer, span, expectAllEnded } = recorder();
    const log = new FakeSessionLog({
      onAppend: (row) => {
        if (row.type === type) throw new RangeError('the disk is full');
      },
    });
    const llm = new ScriptedLlm([[done('Look.', call('a'))], say('Done.')]);
    const turn = loopOf(tracer).runTurn(testContext({ llm, log, tools: works(() => 1) }), 'Go.');
    await expect(turn).rejects.toThrow('the disk is full');
    expect(endOf(span('invoke_agent'))).toEqual(faulty('error', 'RangeError'));
    expectAllEnded();
  },
);

test('every span ends once, with a registry whose schemas throw', async () => {
  const { tracer, tree, span, expectAllEnded } = recorder();
  const tools = registryWith({ schemas: throwing(new RangeError('no')) });
  const ctx = testContext({ llm: new ScriptedLlm([say('Hi.')]), tools });
  await expect(loopOf(tracer).runTurn(ctx, 'Go.')).rejects.toThrow(RangeError);
  expect(tree()).toEqual(['invoke_agent', '  step 0']);
  expect(endOf(span('invoke_agent'))).toEqual(faulty('error', 'RangeError'));
  expectAllEnded();
});

test('misuse is told as it is, and its span ends', async () => {
  const { tracer, span, expectAllEnded } = recorder();
  const loop = loopOf(tracer);
  await expect(loop.runTurn(testContext({ llm: null as never }), 'Go.')).rejects.toThrow(
    'missing LlmService in context',
  );
  expect(endOf(span('invoke_agent'))).toEqual(faulty('error', 'AgentError'));
  await expect(loop.runTurn(null as never, 'Go.')).rejects.toThrow('ctx: expected a Context');
  await expect(loop.runTurn(testContext({ llm: 7 as never }), 'Go.')).rejects.toThrow(TypeError);
  const ctx = testContext({ llm: new HangingLlm() });
  const turn = loop.streamTurn(ctx, 'Go.');
  await expect(loop.runTurn(ctx, 'Go.')).rejects.toThrow('a turn is already running');
  turn.cancel();
  await turn.outcome;
  expectAllEnded();
});
