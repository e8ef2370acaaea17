import { describe, expect, test } from 'vitest';

import type {
  DefaultAgentLoop} from '@celestea/agent-loop';
import {
  agentLoopPlugin,
  createAgentLoop,
  createUsageTracker,
  type AgentLoopBindings,
  type Diagnostic,
  type TurnOptions,
} from '@celestea/agent-loop';
import {
  callTools,
  collectingSink,
  FakeSessionLog,
  FakeToolRegistry,
  HangingLlm,
  say,
  ScriptedLlm,
  testContext,
  type Script,
} from '@celestea/agent-loop/testing';
import {
  AGENT_LOOP_SERVICE,
  Context,
  defaultAgentConfig,
  userMessage,
  type ImageRef,
} from '@celestea/core';

import { call, Mailbox, quiet, settled } from './support/turn.ts';

const config = defaultAgentConfig();

type TurnArgument = readonly ImageRef[] | TurnOptions | undefined;

/** The three ways into a turn; each gives a promise of its end. */
const faces: [
  name: string,
  run: (loop: DefaultAgentLoop, ctx: Context, turn?: TurnArgument) => Promise<unknown>,
][] = [
  ['runTurn', (loop, ctx, turn) => loop.runTurn(ctx, 'go', turn)],
  ['runTurnOutcome', (loop, ctx, turn) => loop.runTurnOutcome(ctx, 'go', turn)],
  ['streamTurn', (loop, ctx, turn) => loop.streamTurn(ctx, 'go', turn).outcome],
];

const picture: ImageRef = {
  attachment_id: 'ab'.repeat(32),
  media_type: 'image/png',
  width: 2,
  height: 3,
};

const used = {
  prompt_tokens: 3,
  completion_tokens: 2,
  total_tokens: 5,
  cache_read: 0,
  reasoning_tokens: 0,
};

function scene(scripts: readonly Script[] = [say('Hi.')]) {
  const log = new FakeSessionLog();
  const llm = new ScriptedLlm(scripts);
  const tools = new FakeToolRegistry({ echo: (args) => args });
  return { log, llm, tools, ctx: testContext({ llm, log, tools }) };
}

describe.each(faces)('X1 the third argument of %s', (_, run) => {
  test('X1 an array is the attachments, and so is the option of that name', async () => {
    const expected = { type: 'user_message', text: 'go', attachments: [picture] };
    for (const turn of [[picture], { attachments: [picture] }]) {
      const { log, ctx } = scene();
      await run(createAgentLoop(config), ctx, turn);
      expect(log.rows[1]).toEqual(expected);
    }
  });

  test('X1 left out, empty, or with every field undefined it changes nothing', async () => {
    const nothing: TurnOptions = {
      attachments: undefined,
      signal: undefined,
      sink: undefined,
      usage: undefined,
      injections: undefined,
      contextPolicy: undefined,
      prepareStep: undefined,
      timeouts: undefined,
      onDiagnostic: undefined,
    };
    for (const turn of [undefined, [], {}, { attachments: [] }, nothing]) {
      const { log, ctx } = scene();
      const { sink, events } = collectingSink();
      await run(createAgentLoop(config, { sink }), ctx, turn);
      expect(log.rows).toEqual([
        { type: 'turn_start', id: 'turn-0' },
        { type: 'user_message', text: 'go' },
        { type: 'assistant_message', text: 'Hi.' },
        { type: 'turn_end', id: 'turn-0', outcome: 'completed' },
      ]);
      expect(events.map(({ kind }) => kind)).toEqual(['text', 'done', 'turn_end']);
    }
  });

  test.each<[turn: unknown, message: string]>([
    [null, 'turn options: expected an object, got null'],
    ['go', 'turn options: expected an object, got "go"'],
    [() => undefined, 'turn options: expected an object, got a function'],
    [['cat.png'], 'attachments: expected an array of image references, got an array'],
    [{ attachments: picture }, 'attachments: expected an array of image references, got an object'],
    [{ attachments: null }, 'attachments: expected an array of image references, got null'],
    [
      { attachments: [{ ...picture, width: '2' }] },
      'attachments: expected an array of image references, got an array',
    ],
    [{ signal: {} }, 'signal: expected an AbortSignal, got an object'],
    [{ sink: 7 }, 'sink: expected a function, got 7'],
    [{ usage: {} }, 'usage: expected a UsageTracker, got an object'],
    [{ injections: {} }, 'injections: expected an InjectionSource, got an object'],
    [{ contextPolicy: 1 }, 'contextPolicy: expected a function, got 1'],
    [{ prepareStep: [] }, 'prepareStep: expected a function, got an array'],
    [{ timeouts: 5 }, 'timeouts: expected an object, got 5'],
    [
      { timeouts: { streamIdleMs: -1 } },
      'timeouts.streamIdleMs: expected milliseconds, 0 or more, got -1',
    ],
    [{ timeouts: { toolMs: NaN } }, 'timeouts.toolMs: expected milliseconds, 0 or more, got NaN'],
    [{ onDiagnostic: 'log' }, 'onDiagnostic: expected a function, got "log"'],
  ])('X1 %j is a TypeError before anything is written', async (turn, message) => {
    const { log, llm, ctx } = scene();
    const { sink, events } = collectingSink();
    const loop = createAgentLoop(config, { sink });
    const result = await settled(run(loop, ctx, turn as TurnOptions));
    expect(result).toEqual({ error: new TypeError(message) });
    expect(result).toHaveProperty('error.name', 'TypeError');
    expect(log.rows).toEqual([]);
    expect(llm.requests).toEqual([]);
    expect(events).toEqual([]);
    expect(log.nextTurnId()).toBe('turn-0');
  });

  test.each(['bound', 'own'])('X1 of two signals the %s one cancels', async (which) => {
    const signals = { bound: new AbortController(), own: new AbortController() };
    const llm = new HangingLlm();
    const log = new FakeSessionLog();
    const loop = createAgentLoop(config, { signal: signals.bound.signal });
    const running = run(loop, testContext({ llm, log }), { signal: signals.own.signal });
    await quiet();
    signals[which === 'own' ? 'own' : 'bound'].abort();
    await running;
    expect(log.rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome: 'cancelled' });
  });

  test.each(['bound', 'own'])('X1 a %s signal that fired before cancels', async (which) => {
    const fired = AbortSignal.abort();
    const { signal } = new AbortController();
    const { log, llm, ctx } = scene();
    const loop = createAgentLoop(config, { signal: which === 'bound' ? fired : signal });
    await run(loop, ctx, { signal: which === 'own' ? fired : signal });
    expect(log.rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome: 'cancelled' });
    expect(llm.requests).toEqual([]);
  });

  test('X1 the same signal twice is one signal', async () => {
    const { signal } = new AbortController();
    const { log, ctx } = scene();
    await run(createAgentLoop(config, { signal }), ctx, { signal });
    expect(log.rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome: 'completed' });
  });
});

/** Bindings that each note their use under a name, and make every one of them be used. */
function noted(uses: string[], name: string) {
  const note = (what: string): void => {
    if (!uses.includes(`${name} ${what}`)) uses.push(`${name} ${what}`);
  };
  const usage = createUsageTracker();
  const record = usage.record.bind(usage);
  usage.record = (counters) => {
    note('usage');
    record(counters);
  };
  return {
    sink: () => {
      note('sink');
      throw new Error('a sink for the diagnostic');
    },
    usage,
    injections: {
      drain: () => {
        note('injections');
        return [];
      },
    },
    contextPolicy: () => {
      note('contextPolicy');
      const outcome = { removedMessages: 0, removedTokens: 0, trimmed: false };
      return { messages: [userMessage(name)], outcome };
    },
    prepareStep: () => {
      note('prepareStep');
    },
    onDiagnostic: ({ kind }: Diagnostic) => {
      if (kind === 'sink_failed') note('onDiagnostic');
    },
  } satisfies AgentLoopBindings;
}

const scripts: Script[] = [
  [{ kind: 'usage', usage: used }, ...callTools(call('a'))],
  [{ kind: 'usage', usage: used }, ...say('Hi.')],
];
const names = ['sink', 'usage', 'injections', 'contextPolicy', 'prepareStep', 'onDiagnostic'];

describe.each(faces)('X1 a value of one turn of %s', (_, run) => {
  test('X1 all at once: none of the bindings is used', async () => {
    const uses: string[] = [];
    const { ctx, llm } = scene(scripts);
    const own = noted(uses, 'own');
    const bound = noted(uses, 'bound');
    await run(createAgentLoop(config, bound), ctx, own);
    expect(uses.sort()).toEqual(names.map((name) => `own ${name}`).sort());
    expect(llm.requests.map((request) => request.messages)).toEqual([
      [userMessage('own')],
      [userMessage('own')],
    ]);
    expect(own.usage.total().total_tokens).toBe(10);
    expect(bound.usage.total().total_tokens).toBe(0);
  });

  test.each(names)('X1 %s alone replaces its binding, and the others stay', async (name) => {
    const uses: string[] = [];
    const { ctx } = scene(scripts);
    const own = Object.entries(noted(uses, 'own')).filter(([key]) => key === name);
    const turn: TurnOptions = Object.fromEntries(own);
    await run(createAgentLoop(config, noted(uses, 'bound')), ctx, turn);
    const expected = names.map((other) => `${other === name ? 'own' : 'bound'} ${other}`);
    expect(uses.sort()).toEqual(expected.sort());
  });

  test('X1 a turn changes nothing for the turn after it', async () => {
    const uses: string[] = [];
    const { ctx } = scene([...scripts, ...scripts]);
    const loop = createAgentLoop(config, noted(uses, 'bound'));
    await run(loop, ctx, noted(uses, 'own'));
    uses.length = 0;
    await run(loop, ctx);
    expect(uses.sort()).toEqual(names.map((name) => `bound ${name}`).sort());
  });
});

describe('X1 one loop for many turns', () => {
  test('X1 mounted once as a plugin it serves turns side by side', async () => {
    const scope = Context.root();
    agentLoopPlugin(config).mount(scope);
    const loop = scope.require(AGENT_LOOP_SERVICE);
    const turns = ['one', 'two', 'three'].map((text) => {
      const { sink, events } = collectingSink();
      return { text, sink, events, ctx: scene([say(text)]).ctx };
    });
    await Promise.all(turns.map(({ sink, ctx }) => loop.runTurn(ctx, 'go', { sink })));
    for (const { text, events } of turns) {
      expect(events).toEqual([
        { kind: 'text', delta: text },
        { kind: 'done', text, tool_calls: [] },
        { kind: 'turn_end', outcome: 'completed' },
      ]);
    }
  });

  test('X1 a cancel of one turn leaves the other turns of its loop alone', async () => {
    const loop = createAgentLoop(config);
    const controllers = [new AbortController(), new AbortController()];
    const running = controllers.map(({ signal }) =>
      loop.runTurnOutcome(testContext({ llm: new HangingLlm() }), 'go', { signal }),
    );
    await quiet();
    controllers[0]?.abort();
    expect(await running[0]).toBe('cancelled');
    const state = await Promise.race([running[1], quiet().then(() => 'still running')]);
    expect(state).toBe('still running');
    controllers[1]?.abort();
    expect(await running[1]).toBe('cancelled');
  });

  test('X1 a turn’s source is drained, the bound one keeps its messages', async () => {
    const [bound, own] = [new Mailbox(), new Mailbox()];
    bound.post('bound');
    own.post('own');
    const { ctx, log } = scene();
    await createAgentLoop(config, { injections: bound }).runTurn(ctx, 'go', { injections: own });
    expect(log.rows[2]).toEqual({ type: 'user_message', text: 'own' });
    expect(bound.waiting).toEqual([{ text: 'bound', from: '' }]);
  });
});
