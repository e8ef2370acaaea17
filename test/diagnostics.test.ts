import { describe, expect, test } from 'vitest';

import {
  createAgentLoop,
  createUsageTracker,
  RETENTION_SERVICE,
  toolResultRetention,
  type AgentLoopBindings,
  type Diagnostic,
  type DiagnosticKind,
} from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  collectingSink,
  done,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  think,
  type Script,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  zeroUsage,
  type LoopEvent,
  type SessionEvent,
  type ToolRegistry,
} from '@celestea/core';

import { call, quiet, rawRegistry } from './support/turn.ts';

const scripts: Script[] = [
  [think('hm'), { kind: 'text', text: 'Let me look.' }, done('', call('a'), call('b'))],
  [{ kind: 'usage', usage: zeroUsage() }, ...say('It is noon.')],
];

const wholeRows: SessionEvent[] = [
  { type: 'turn_start', id: 'turn-0' },
  { type: 'user_message', text: 'go' },
  { type: 'thinking_delta', text: 'hm' },
  { type: 'tool_call', id: 'a', name: 'echo', args: { of: 'a' } },
  { type: 'tool_call', id: 'b', name: 'echo', args: { of: 'b' } },
  { type: 'tool_result', id: 'a', value: { of: 'a' }, error: null },
  { type: 'tool_result', id: 'b', value: { of: 'b' }, error: null },
  { type: 'assistant_message', text: 'It is noon.' },
  { type: 'turn_end', id: 'turn-0', outcome: 'completed' },
];
const wholeKinds = [
  ...['thinking', 'text', 'done', 'tool_call', 'tool_call', 'tool_result', 'tool_result'],
  ...['text', 'done', 'turn_end'],
];

interface Play extends AgentLoopBindings {
  scripts?: Script[];
  tools?: ToolRegistry;
  spill?: () => Promise<null>;
}

async function play({ scripts: given = scripts, tools, spill, ...bindings }: Play = {}) {
  const log = new FakeSessionLog();
  const registry = tools ?? new FakeToolRegistry({ echo: (args) => args });
  const diagnostics: Diagnostic[] = [];
  const loop = createAgentLoop(defaultAgentConfig(), {
    onDiagnostic: (diagnostic) => void diagnostics.push(diagnostic),
    ...bindings,
  });
  const ctx = testContext({ llm: new ScriptedLlm(given), log, tools: registry });
  if (spill !== undefined) {
    const sizes = { singleResultBytes: 4, previewHeadBytes: 1, previewTailBytes: 1 };
    ctx.provide(RETENTION_SERVICE, toolResultRetention(spill, sizes));
  }
  const outcome = await loop.runTurnOutcome(ctx, 'go');
  await quiet();
  assertLogValid(log.rows);
  return { outcome, rows: log.rows, diagnostics };
}

const fault = new Error('broken');
/** An async function where a plain one belongs. */
const reject = (): unknown => Promise.reject(fault);
const fail = (): never => {
  throw fault;
};

const answer = (output: unknown): ToolRegistry =>
  rawRegistry(() => Promise.resolve(output) as ReturnType<ToolRegistry['dispatch']>);

const oneCall = [callTools(call('a')), say('Hi.')];
const plain = { value: 1, render: null, error: null, decision: null };
const longText = rawRegistry(({ call_id }) =>
  Promise.resolve({ ...plain, call_id, value: 'a long text' }),
);

/** Each kind, with a situation that makes it. */
const situations: Record<DiagnosticKind, [given: () => Play, expected: Diagnostic[]]> = {
  model_failed: [
    () => ({ scripts: [[fail]] }),
    [{ kind: 'model_failed', message: 'the stream of the model threw', error: fault }],
  ],
  sink_failed: [
    () => ({
      scripts: [say('Hi.')],
      sink: ({ kind }: LoopEvent) => {
        if (kind === 'done') fail();
      },
    }),
    [{ kind: 'sink_failed', message: 'the sink failed on done', error: fault }],
  ],
  usage_failed: [
    () => ({ usage: Object.assign(createUsageTracker(), { record: fail }) }),
    [{ kind: 'usage_failed', message: 'the usage tracker threw', error: fault }],
  ],
  injections_failed: [
    () => ({ scripts: [say('Hi.')], injections: { drain: fail } }),
    [
      {
        kind: 'injections_failed',
        message: 'the injections could not be drained',
        error: fault,
      },
    ],
  ],
  spill_failed: [
    () => ({ scripts: oneCall, tools: longText, spill: () => Promise.reject(fault) }),
    [{ kind: 'spill_failed', message: 'the result of echo was not spilled', error: fault }],
  ],
  foreign_call_id: [
    () => ({ scripts: oneCall, tools: answer({ ...plain, call_id: 'z' }) }),
    [{ kind: 'foreign_call_id', message: 'echo answered "z" where a was asked' }],
  ],
  call_id_replaced: [
    () => ({ scripts: [callTools(call('a'), call('a'), call('')), say('Hi.')] }),
    [
      { kind: 'call_id_replaced', message: 'call id "a" was replaced by call-turn-0-0' },
      { kind: 'call_id_replaced', message: 'call id "" was replaced by call-turn-0-1' },
    ],
  ],
  malformed_output: [
    () => ({ scripts: oneCall, tools: answer('done') }),
    [
      {
        kind: 'malformed_output',
        message: 'echo: the tool registry returned "done" instead of a result',
      },
    ],
  ],
  event_after_done: [
    () => ({ scripts: [[...say('Hi.'), { kind: 'text', text: 'and more' }]] }),
    [{ kind: 'event_after_done', message: 'text after a done event' }],
  ],
  tool_abandoned: [
    () => {
      const controller = new AbortController();
      const tools = rawRegistry(() => {
        void quiet(1).then(() => {
          controller.abort();
        });
        return new Promise(() => undefined);
      });
      return { scripts: oneCall, tools, signal: controller.signal };
    },
    [{ kind: 'tool_abandoned', message: 'echo (a) was still running' }],
  ],
};

const each = Object.entries(situations).map(([kind, [given, expected]]) => ({
  kind,
  given,
  expected,
}));

describe('X15 each fault that the turn goes on from', () => {
  test.each(each)('X15 $kind is handed to onDiagnostic, once each', async ({ given, expected }) => {
    const { diagnostics } = await play(given());
    expect(diagnostics).toEqual(expected);
    for (const diagnostic of diagnostics) {
      expect('error' in diagnostic, 'an error where there was one').toBe(
        diagnostic.error !== undefined,
      );
    }
  });

  test.each(each)('X15 $kind: the turn ends as it does without a listener', async ({ given }) => {
    const heard = await play(given());
    const unheard = await play({ ...given(), onDiagnostic: undefined });
    expect([unheard.outcome, unheard.rows]).toEqual([heard.outcome, heard.rows]);
  });

  test.each(each)('X15 $kind: a listener that throws or rejects is ignored', async ({ given }) => {
    const heard = await play(given());
    let asked = 0;
    const hostile: (() => unknown)[] = [
      () => {
        asked += 1;
        throw new Error('the listener');
      },
      () => {
        asked += 1;
        return Promise.reject(new Error('the listener'));
      },
    ];
    for (const onDiagnostic of hostile) {
      const { outcome, rows } = await play({ ...given(), onDiagnostic });
      expect([outcome, rows]).toEqual([heard.outcome, heard.rows]);
    }
    expect(asked).toBe(2 * heard.diagnostics.length);
  });

  test('X15 a turn without faults reports none', async () => {
    const { diagnostics, rows } = await play({ sink: () => undefined });
    expect(diagnostics).toEqual([]);
    expect(rows).toEqual(wholeRows);
  });

  test('X15 a usage tracker that rejects is reported as one that throws', async () => {
    const record = (): unknown => reject();
    const { diagnostics, outcome } = await play({
      usage: Object.assign(createUsageTracker(), { record }),
    });
    expect(outcome).toBe('completed');
    expect(diagnostics).toEqual([
      { kind: 'usage_failed', message: 'the usage tracker threw', error: fault },
    ]);
  });
});

describe('X15 a sink that fails', () => {
  test.each(wholeKinds.map((kind, index) => ({ kind, index })))(
    'X15 at event $index, $kind: the log is complete and later events come',
    async ({ kind, index }) => {
      const { sink, events } = collectingSink();
      const { outcome, rows, diagnostics } = await play({
        sink: (event) => {
          sink(event);
          if (events.length === index + 1) throw fault;
        },
      });
      expect(outcome).toBe('completed');
      expect(rows).toEqual(wholeRows);
      expect(events.map((event) => event.kind)).toEqual(wholeKinds);
      expect(diagnostics).toEqual([
        { kind: 'sink_failed', message: `the sink failed on ${kind}`, error: fault },
      ]);
    },
  );

  test('X15 at every event, by throwing', async () => {
    const { rows, diagnostics } = await play({ sink: fail });
    expect(rows).toEqual(wholeRows);
    const failures = wholeKinds.map((kind) => `the sink failed on ${kind}`);
    expect(diagnostics.map(({ message }) => message)).toEqual(failures);
  });

  test('X15 at every event, by rejecting: nothing goes unhandled', async () => {
    const { rows, diagnostics } = await play({ sink: (): unknown => reject() });
    expect(rows).toEqual(wholeRows);
    const failures = wholeKinds.map((kind) => `the sink failed on ${kind}`);
    expect(diagnostics.map(({ message }) => message)).toEqual(failures);
  });

  test.each([undefined, null, 0, 'sink'])('X15 with %j, which is no Error', async (thrown) => {
    const { rows, diagnostics } = await play({
      sink: () => {
        // A sink may throw anything at all.
        // eslint-disable-next-line @typescript-eslint/only-throw-error
        throw thrown;
      },
    });
    expect(rows).toEqual(wholeRows);
    expect(diagnostics).toHaveLength(wholeKinds.length);
    expect(diagnostics[0]?.error).toBe(thrown);
  });

  test('X15 X5 a sink that throws does not disturb the stream of the same turn', async () => {
    const log = new FakeSessionLog();
    const tools = new FakeToolRegistry({ echo: (args) => args });
    const ctx = testContext({ llm: new ScriptedLlm(scripts), log, tools });
    const stream = createAgentLoop(defaultAgentConfig(), { sink: fail }).streamTurn(ctx, 'go');
    const kinds: string[] = [];
    for await (const { kind } of stream) kinds.push(kind);
    expect(kinds).toEqual(wholeKinds);
    expect(log.rows).toEqual(wholeRows);
  });

  test('X15 a sink that cancels and throws cancels', async () => {
    const controller = new AbortController();
    const { outcome, rows } = await play({
      signal: controller.signal,
      sink: () => {
        controller.abort();
        throw fault;
      },
    });
    expect(outcome).toBe('cancelled');
    expect(rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome: 'cancelled' });
  });
});
