import { describe, expect, expectTypeOf, test } from 'vitest';

import * as api from '@celestea/agent-loop';
import {
  createUsageTracker,
  DefaultAgentLoop,
  type AgentLoopBindings,
  type EventSink,
  type MessageEstimator,
  type RaceResult,
  type SseFrame,
  type TrimOutcome,
  type TrimResult,
} from '@celestea/agent-loop';
import {
  callTools,
  collectingSink,
  done,
  failingLlm,
  FakeSessionLog,
  FakeToolRegistry,
  HangingLlm,
  say,
  ScriptedLlm,
  testContext,
  think,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  messageTexts,
  type AgentLoop,
  type ImageRef,
  type Llm,
  type ModelRequest,
  type StreamEvent,
  type TurnOutcome,
} from '@celestea/core';

const picture: ImageRef = {
  attachment_id: 'a'.repeat(64),
  media_type: 'image/png',
  width: 20,
  height: 10,
};

const call = (id: string) => ({ id, name: 'echo', args: { of: id } });

/** One turn with a registry that has one tool, `echo`. */
async function runOne(
  llm: Llm,
  { maxSteps = 16, signal }: { maxSteps?: number; signal?: AbortSignal } = {},
) {
  const log = new FakeSessionLog();
  const tools = new FakeToolRegistry({ echo: (args) => args });
  const { sink, events } = collectingSink();
  const bindings = signal === undefined ? { sink } : { sink, signal };
  const loop = new DefaultAgentLoop(defaultAgentConfig({ max_steps: maxSteps }), bindings);
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  return { outcome, rows: log.rows, events, tools };
}

describe('the public API', () => {
  test('L1 every name is a named export of the package', () => {
    expect(Object.keys(api)).toEqual(
      expect.arrayContaining([
        'DefaultAgentLoop',
        'agentLoopPlugin',
        'createAgentLoop',
        'defaultAgentConfig',
        'CANCELLED_BEFORE_EXECUTION',
        'raceAbort',
        'isAborted',
        'closeIterator',
        'errorMessage',
        'trimContext',
        'estimateTokens',
        'estimateMessageTokens',
        'estimateMessagesTokens',
        'estimateImageTokens',
        'withMessageEstimator',
        'trimmedMarkerMessage',
        'TRIMMED_MARKER_PREFIX',
        'IMAGE_BASE_TOKENS',
        'IMAGE_PIXEL_DIVISOR',
        'UsageTracker',
        'createUsageTracker',
        'toolCallEvent',
        'toolResultEvent',
        'doneEvent',
        'turnEndEvent',
        'decisionLabel',
        'loopEventToSse',
      ]),
    );
    expect(Object.values(api).every((value) => (value as unknown) !== undefined)).toBe(true);
    expect(api.defaultAgentConfig).toBe(defaultAgentConfig);
  });

  test('L1 the constants have their published values', () => {
    expect(api.CANCELLED_BEFORE_EXECUTION).toBe('cancelled before execution');
    expect(api.TRIMMED_MARKER_PREFIX).toBe('[context-trimmed]');
    expect(api.IMAGE_BASE_TOKENS).toBe(85);
    expect(api.IMAGE_PIXEL_DIVISOR).toBe(750);
  });

  test('L1 the types have their published shapes', () => {
    expectTypeOf<DefaultAgentLoop>().toExtend<AgentLoop>();
    expectTypeOf<ReturnType<DefaultAgentLoop['runTurn']>>().toEqualTypeOf<Promise<void>>();
    expectTypeOf<ReturnType<DefaultAgentLoop['runTurnOutcome']>>().toEqualTypeOf<
      Promise<TurnOutcome>
    >();
    expectTypeOf<ReturnType<DefaultAgentLoop['contextSnapshot']>>().toEqualTypeOf<ModelRequest>();
    expectTypeOf<AgentLoopBindings['signal']>().toEqualTypeOf<AbortSignal | undefined>();
    expectTypeOf<AgentLoopBindings['sink']>().toEqualTypeOf<EventSink | undefined>();
    expectTypeOf<RaceResult<1>>().toEqualTypeOf<
      { outcome: 'ok'; value: 1 } | { outcome: 'aborted' } | { outcome: 'failed'; error: unknown }
    >();
    expectTypeOf<keyof TrimOutcome>().toEqualTypeOf<
      'removedMessages' | 'removedTokens' | 'trimmed'
    >();
    expectTypeOf<TrimResult['outcome']>().toEqualTypeOf<TrimOutcome>();
    expectTypeOf<SseFrame['payload']>().toEqualTypeOf<Record<string, unknown>>();
    expectTypeOf<MessageEstimator>().toBeFunction();
  });

  test('L1 agentConfig is a copy that nobody can change', () => {
    const config = defaultAgentConfig({ model: 'first' });
    const loop = new DefaultAgentLoop(config);
    config.model = 'second';
    expect(loop.agentConfig).toEqual(defaultAgentConfig({ model: 'first' }));
    expect(Reflect.set(loop.agentConfig, 'model', 'third')).toBe(false);
    expect(Reflect.set(loop, 'agentConfig', config)).toBe(false);
    expect(loop.agentConfig.model).toBe('first');
  });

  test('L1 usageTracker is the bound one, or undefined', () => {
    const usage = createUsageTracker();
    const loop = new DefaultAgentLoop(defaultAgentConfig(), { usage });
    expect(loop.usageTracker).toBe(usage);
    expect(Reflect.set(loop, 'usageTracker', createUsageTracker())).toBe(false);
    expect(new DefaultAgentLoop(defaultAgentConfig()).usageTracker).toBeUndefined();
  });

  test('L1 a binding that is changed after the loop was made changes nothing', async () => {
    const first = collectingSink();
    const second = collectingSink();
    const bindings = { sink: first.sink };
    const loop = new DefaultAgentLoop(defaultAgentConfig(), bindings);
    bindings.sink = second.sink;
    await loop.runTurn(testContext({ llm: new ScriptedLlm([say('hi')]) }), 'go');
    expect(first.events).toHaveLength(3);
    expect(second.events).toEqual([]);
  });

  test.each([
    { bad: null, expected: 'bindings: expected an object, got null' },
    { bad: { signal: {} }, expected: 'signal: expected an AbortSignal, got an object' },
    { bad: { signal: null }, expected: 'signal: expected an AbortSignal, got null' },
    { bad: { sink: 'x' }, expected: 'sink: expected a function, got "x"' },
    { bad: { usage: {} }, expected: 'usage: expected a UsageTracker, got an object' },
  ])('L1 a wrong binding is a TypeError: $expected', ({ bad, expected }) => {
    const make = () => Reflect.construct(DefaultAgentLoop, [defaultAgentConfig(), bad]) as unknown;
    expect(make).toThrow(new TypeError(expected));
  });
});

describe('how a turn opens', () => {
  test('L2.2 turn_start comes first, then the user message', async () => {
    const { rows } = await runOne(new ScriptedLlm([say('hi')]));
    expect(rows).toEqual([
      { type: 'turn_start', id: 'turn-0' },
      { type: 'user_message', text: 'go' },
      { type: 'assistant_message', text: 'hi' },
      { type: 'turn_end', id: 'turn-0', outcome: 'completed' },
    ]);
  });

  test.each([
    { input: null, pictures: [], expected: [] },
    { input: '', pictures: [], expected: [{ type: 'user_message', text: '' }] },
    {
      input: null,
      pictures: [picture],
      expected: [{ type: 'user_message', text: '', attachments: [picture] }],
    },
    {
      input: 'see',
      pictures: [picture, picture],
      expected: [{ type: 'user_message', text: 'see', attachments: [picture, picture] }],
    },
  ])(
    'L2.2 input $input with $pictures.length pictures',
    async ({ input, pictures, expected }) => {
      const log = new FakeSessionLog();
      const ctx = testContext({ llm: new ScriptedLlm([say('hi')]), log });
      const given = [...pictures];
      const running = new DefaultAgentLoop(defaultAgentConfig()).runTurn(ctx, input, given);
      given.length = 0; // the caller's array is the caller's again
      await running;
      expect(log.rows.slice(1, -2)).toEqual(expected);
      for (const row of log.rows) {
        if (pictures.length === 0) expect(row).not.toHaveProperty('attachments');
      }
    },
  );

  test('L2.2 the id comes from the log, so two loops on one log never share one', async () => {
    const log = new FakeSessionLog({
      rows: [
        { type: 'turn_start', id: 'turn-6' },
        { type: 'turn_end', id: 'turn-6', outcome: 'cancelled' },
      ],
    });
    for (const word of ['one', 'two']) {
      const ctx = testContext({ llm: new ScriptedLlm([say(word)]), log });
      await new DefaultAgentLoop(defaultAgentConfig()).runTurn(ctx, word);
    }
    const ids = log.rows.flatMap((row) => (row.type === 'turn_start' ? [row.id] : []));
    const ends = log.rows.flatMap((row) => (row.type === 'turn_end' ? [row.id] : []));
    expect(ids).toEqual(['turn-6', 'turn-7', 'turn-8']);
    expect(ends).toEqual(['turn-6', 'turn-7', 'turn-8']);
  });
});

/** Calls a tool at each of `steps` requests, then answers. */
const busyModel = (steps: number): ScriptedLlm =>
  new ScriptedLlm([
    ...Array.from({ length: steps }, (_, step) => callTools(call(`c${String(step)}`))),
    say('done at last'),
  ]);

describe('the steps of a turn', () => {
  test.each([
    { maxSteps: 1, steps: 3, requests: 1, outcome: 'step_limit' },
    { maxSteps: 3, steps: 3, requests: 3, outcome: 'step_limit' },
    { maxSteps: 4, steps: 3, requests: 4, outcome: 'completed' },
    { maxSteps: 0, steps: 40, requests: 41, outcome: 'completed' },
    { maxSteps: -1, steps: 40, requests: 41, outcome: 'completed' },
    { maxSteps: NaN, steps: 40, requests: 41, outcome: 'completed' },
  ])(
    'L2.3 max_steps $maxSteps with $steps busy steps: $requests requests, $outcome',
    async ({ maxSteps, steps, requests, outcome }) => {
      const llm = busyModel(steps);
      const run = await runOne(llm, { maxSteps });
      expect(run.outcome).toBe(outcome);
      expect(llm.requests).toHaveLength(requests);
      expect(run.tools.dispatched).toHaveLength(Math.min(steps, requests));
    },
  );

  test('L2.3 a step is: checkpoint, request, generate, stream, decide', async () => {
    const trace: string[] = [];
    const note = (what: string) => () => void trace.push(what);
    const controller = new AbortController();
    const scripted = new ScriptedLlm([
      [note('stream'), ...callTools(call('a'))],
      [note('stream'), ...callTools(call('b'))],
    ]);
    const llm: Llm = {
      generate: (request, options) => {
        trace.push('generate');
        return scripted.generate(request, options);
      },
    };
    const log = new FakeSessionLog({
      onDerive: note('request'),
      onAppend: (row) => {
        trace.push(row.type);
        if (row.type === 'tool_result' && row.id === 'b') controller.abort();
      },
    });
    const tools = new FakeToolRegistry({ echo: note('tool') });
    const loop = new DefaultAgentLoop(defaultAgentConfig(), { signal: controller.signal });
    expect(await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go')).toBe('cancelled');
    const step = ['request', 'generate', 'stream', 'tool_call', 'tool', 'tool_result'];
    expect(trace).toEqual(['turn_start', 'user_message', ...step, ...step, 'turn_end']);
  });

  test('L2.3 each request is built from what the step before wrote', async () => {
    const llm = busyModel(1);
    await runOne(llm);
    const shown = llm.requests.map(({ messages }) =>
      messages.map((message) => [message.role, ...messageTexts(message)]),
    );
    expect(shown).toEqual([
      [['user', 'go']],
      [['user', 'go'], ['assistant'], ['tool', '{"of":"c0"}']],
    ]);
  });
});

const broken = (): never => {
  throw new Error('the line broke');
};
const failed = (kindOf: 'generate' | 'stream'): StreamEvent => ({
  kind: 'failed',
  kindOf,
  message: `${kindOf} gave up`,
});

/** Every way a turn ends. */
const endings: { name: string; llm: () => Llm; outcome: TurnOutcome }[] = [
  { name: 'a reply', llm: () => new ScriptedLlm([say('hi')]), outcome: 'completed' },
  { name: 'an empty reply', llm: () => new ScriptedLlm([[done('')]]), outcome: 'completed' },
  { name: 'a busy model', llm: () => busyModel(2), outcome: 'step_limit' },
  {
    name: 'a generate that rejects',
    llm: () => failingLlm(new Error('no key')),
    outcome: { error: { kind: 'generate', message: 'no key' } },
  },
  {
    name: 'a failed event of the stream',
    llm: () => new ScriptedLlm([[failed('stream')]]),
    outcome: { error: { kind: 'stream', message: 'stream gave up' } },
  },
  {
    name: 'a failed event with a kind of its own',
    llm: () => new ScriptedLlm([[failed('generate')]]),
    outcome: { error: { kind: 'generate', message: 'generate gave up' } },
  },
  {
    name: 'a throwing iterator',
    llm: () => new ScriptedLlm([[think('hm'), broken]]),
    outcome: { error: { kind: 'stream', message: 'the line broke' } },
  },
  {
    name: 'a failure in the second step',
    llm: () => new ScriptedLlm([callTools(call('a')), [failed('stream')]]),
    outcome: { error: { kind: 'stream', message: 'stream gave up' } },
  },
  {
    name: 'an end without a terminal event',
    llm: () => new ScriptedLlm([[{ kind: 'text', text: 'I was about' }]]),
    outcome: 'interrupted',
  },
  { name: 'an empty stream', llm: () => new ScriptedLlm([[]]), outcome: 'interrupted' },
  {
    name: 'an interrupted event',
    llm: () => new ScriptedLlm([[{ kind: 'interrupted' }]]),
    outcome: 'interrupted',
  },
];

describe('how a turn ends', () => {
  test.each(endings)('L2.4 L2.5 $name', async ({ llm, outcome }) => {
    const { rows, events, outcome: got } = await runOne(llm(), { maxSteps: 2 });
    expect(got).toEqual(outcome);
    expect(rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome });
    expect(events.at(-1)).toEqual({ kind: 'turn_end', outcome });
    expect(rows.filter((row) => row.type === 'turn_end')).toHaveLength(1);
    expect(events.filter((event) => event.kind === 'turn_end')).toHaveLength(1);
  });

  test('L2.4 L2.5 a fired signal: cancelled', async () => {
    const controller = new AbortController();
    const running = runOne(new HangingLlm(), { signal: controller.signal });
    controller.abort();
    const { rows, events } = await running;
    expect(rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome: 'cancelled' });
    expect(rows).toHaveLength(3);
    expect(events).toEqual([{ kind: 'turn_end', outcome: 'cancelled' }]);
  });

  test('L2.5 a budget spent while the signal fires reads cancelled, not step_limit', async () => {
    const controller = new AbortController();
    const stop = () => {
      controller.abort();
    };
    const llm = new ScriptedLlm([callTools({ id: 'a', name: 'stop', args: null })]);
    const tools = new FakeToolRegistry({ stop });
    const config = defaultAgentConfig({ max_steps: 1 });
    const loop = new DefaultAgentLoop(config, { signal: controller.signal });
    expect(await loop.runTurnOutcome(testContext({ llm, tools }), 'go')).toBe('cancelled');
  });
});
