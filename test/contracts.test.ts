import {
  defaultAgentConfig,
  FINISH_REASONS,
  parseSessionEvent,
  serializeSessionEvent,
  SSE_EVENT_NAMES,
  type AgentConfig,
  type FinishReason,
  type LoopEvent,
  type SessionEvent,
  type StreamEvent,
  type ToolInput,
  type ToolOutput,
} from '@celestea/core';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';

import rowSchema from '../contracts/session-event.schema.json' with { type: 'json' };
import sse from '../contracts/sse-events.json' with { type: 'json' };
import { createAgentLoop } from '../src/plugin.ts';
import { RETENTION_SERVICE, toolResultRetention } from '../src/retention.ts';
import { loopEventToSse } from '../src/sse.ts';
import {
  callTools,
  collectingSink,
  done,
  failingLlm,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  think,
} from '../src/testing/index.ts';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
const isRow = ajv.compile(rowSchema);
const isOmitted = ajv.compile({ $ref: `${rowSchema.$id}#/$defs/omitted_surface` });
const isEnvelope = ajv.compile(sse.envelope);
const payloads = new Map<string, ValidateFunction>(
  Object.entries(sse.events).map(([name, { payload }]) => [name, ajv.compile(payload)]),
);

/** Why the value does not fit; empty when it does. */
function faults(validate: ValidateFunction | undefined, value: unknown): string[] {
  if (validate === undefined) return ['no such schema'];
  if (validate(value)) return [];
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`);
}

const payloadFaults = (name: string, payload: unknown): string[] =>
  faults(payloads.get(name), payload);

const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

interface RealTurn {
  rows: SessionEvent[];
  events: LoopEvent[];
}

const calls = ['works', 'fails', 'nobody', 'denied', 'talks'].map((name, index) => ({
  id: `c${String(index)}`,
  name,
  args: { depth: [1, null, { name }] },
  ...(index % 2 === 0 ? {} : { meta: { signature: [name] } }),
}));

/** Long texts are put away, and two bytes of either end are shown (X12). */
const retention = toolResultRetention(
  (text, { callId }) =>
    Promise.resolve({ locator: callId, bytes: text.length, retrievalHint: 'Ask.' }),
  { singleResultBytes: 8, previewHeadBytes: 2, previewTailBytes: 2 },
);

const signedThought: StreamEvent = { kind: 'thinking', text: 'hm', meta: { signature: 's' } };

/** The event with the reason why the model stopped. */
const because = (finish: FinishReason, event: StreamEvent): StreamEvent =>
  event.kind === 'done' ? { ...event, finish } : event;

/** Works, fails, or says of `denied` what a guard said. */
class Guarded extends FakeToolRegistry {
  override async dispatch(input: ToolInput): Promise<ToolOutput> {
    const output = await super.dispatch(input);
    if (input.name !== 'denied') return { ...output, render: 'shown', decision: { kind: 'allow' } };
    return { ...output, error: 'not allowed', decision: { kind: 'deny', reason: 'policy' } };
  }
}

const picture = {
  attachment_id: 'ab'.repeat(32),
  media_type: 'image/png',
  width: 4,
  height: 3,
  name: 'a.png',
  original: { width: 40, height: 30, bytes: 900, media_type: 'image/webp' },
} as const;

/** One turn of every outcome, with every kind of row and event among them. */
async function realTurns(): Promise<RealTurn> {
  const log = new FakeSessionLog();
  const { sink, events } = collectingSink();
  const cancel = new AbortController();
  const tools = new Guarded({
    works: () => ({ found: [1, 2] }),
    fails: () => Promise.reject(new Error('no file')),
    talks: () => 'a long text \u{1f600}',
    stop: () => {
      cancel.abort();
    },
  });
  const run = async (
    llm: ScriptedLlm | ReturnType<typeof failingLlm>,
    config: Partial<AgentConfig> = {},
  ) => {
    const bindings = { sink, signal: cancel.signal };
    const loop = createAgentLoop(defaultAgentConfig(config), bindings);
    const ctx = testContext({ llm, log, tools }).provide(RETENTION_SERVICE, retention);
    await loop.runTurn(ctx, 'Go\u2028on.', [picture]);
  };
  const steps = [
    [think('hm'), signedThought, because('tool_calls', done('See:', ...calls))],
    [think('so'), ...say('Done.').map((event) => because('stop', event))],
  ];
  await run(new ScriptedLlm(steps));
  await run(new ScriptedLlm([callTools(...calls)]), { max_steps: 1 });
  await run(failingLlm(new Error('no key')));
  const torn = { kind: 'failed', kindOf: 'stream', message: 'torn' } as const;
  await run(new ScriptedLlm([[think('hm'), torn]]));
  await run(new ScriptedLlm([[{ kind: 'text', text: 'Half an' }, { kind: 'interrupted' }]]));
  const cut = ['stop', 'works'].map((name, index) => ({ id: `d${String(index)}`, name, args: 0 }));
  await run(new ScriptedLlm([callTools(...cut)]));
  return { rows: log.rows, events };
}

describe('sse-events.json', () => {
  const fromLoop = ['text', 'thinking', 'tool', 'tool_result', 'turn_end', 'done'];

  test('C5.7 X8 names the nine events, and the reasons why a model stopped', () => {
    expect(Object.keys(sse.events)).toEqual(SSE_EVENT_NAMES);
    expect(sse.version).toBe(1);
    expect(sse.dialect).toBe(rowSchema.$schema);
    expect(sse.events.done.payload.properties.finish.enum).toEqual(FINISH_REASONS);
  });

  test('L7.4 X8 X17 the frames of real turns fit, every event of a loop among them', async () => {
    const { events } = await realTurns();
    const seen = new Set<string>();
    for (const [seq, event] of events.entries()) {
      const { event: name, payload } = loopEventToSse(event);
      seen.add(name);
      expect(payloadFaults(name, overTheWire(payload)), JSON.stringify(event)).toEqual([]);
      const envelope = { v: sse.version, session: 's1', turn: 'turn-0', seq, payload };
      expect(faults(isEnvelope, overTheWire(envelope))).toEqual([]);
    }
    expect([...seen].sort()).toEqual(fromLoop.toSorted());
    const payloadsWith = (name: string) =>
      events.map((event) => loopEventToSse(event).payload).filter((part) => name in part);
    expect(payloadsWith('finish').map(({ finish }) => finish)).toEqual(['tool_calls', 'stop']);
    expect(payloadsWith('abandoned')).toMatchObject([{ id: 'd0', ok: false, abandoned: true }]);
    const outcomes = events.filter(({ kind }) => kind === 'turn_end').map(loopEventToSse);
    expect(outcomes.map(({ payload }) => [payload['outcome'], payload['error']])).toEqual([
      ['completed', null],
      ['step_limit', null],
      ['error', 'generate: no key'],
      ['error', 'stream: torn'],
      ['interrupted', null],
      ['cancelled', null],
    ]);
  });

  const result = { id: 'a', ok: true, value: 1, render: null, error: null, decision: null };
  test.each<[name: string, payload: unknown, fits: boolean]>([
    ['text', { delta: '', more: 1 }, true],
    ['text', { text: 'a' }, false],
    ['thinking', { delta: null }, false],
    ['tool', { id: 'a', name: 'b', args: null }, true],
    ['tool', { id: 'a', name: 'b' }, false],
    ['tool_result', result, true],
    ['tool_result', { ...result, ok: false, error: '' }, true],
    ['tool_result', { ...result, ok: false }, false],
    ['tool_result', { ...result, error: 'no' }, false],
    ['tool_result', { ...result, decision: { kind: 'allow' } }, false],
    ['tool_result', { ...result, render: 1 }, false],
    ['tool_result', { ...result, ok: false, error: 'cancelled', abandoned: true }, true],
    ['tool_result', { ...result, abandoned: false }, false],
    ['tool_result', { ...result, abandoned: 'yes' }, false],
    ['turn_end', { outcome: 'completed', error: null }, true],
    ['turn_end', { outcome: 'error', error: 'stream: torn' }, true],
    ['turn_end', { outcome: 'error', error: null }, false],
    ['turn_end', { outcome: 'error', error: 'torn' }, false],
    ['turn_end', { outcome: 'completed', error: 'stream: torn' }, false],
    ['turn_end', { outcome: { error: { kind: 'stream', message: 'torn' } }, error: null }, false],
    ['done', { text: '', tool_calls: [{ id: 'a', name: 'b', args: [] }], finish: 'stop' }, true],
    ['done', { text: '', tool_calls: [{ id: 'a', args: [] }] }, false],
    ['done', { text: '' }, false],
    ['done', { text: '', tool_calls: [], finish: 'stopped' }, false],
    ['done', { text: '', tool_calls: [], finish: null }, false],
    ['status', { phase: 'compacting', percent: 4 }, true],
    ['status', { phase: 4 }, false],
    ['status', {}, false],
    ['compact', { removed_messages: 4, removed_tokens: 900 }, true],
    ['compact', { removed_messages: -1, removed_tokens: 900 }, false],
    ['compact', { removed_messages: 4 }, false],
    ['question', { id: 'q1', text: 'Which file?' }, true],
    ['question', { text: 'Which file?' }, false],
  ])('L7.4 a payload of %s: %j fits: %s', (name, payload, fits) => {
    expect(payloadFaults(name, payload).length === 0).toBe(fits);
  });

  const envelope = { v: 1, session: 's1', turn: 'turn-0', seq: 0, payload: {} };
  test.each<[unknown, boolean]>([
    [envelope, true],
    [{ ...envelope, turn: null }, true],
    [{ ...envelope, v: 2 }, false],
    [{ ...envelope, session: 7 }, false],
    [{ ...envelope, seq: -1 }, false],
    [{ ...envelope, seq: 0.5 }, false],
    [{ ...envelope, payload: null }, false],
    [{ v: 1, session: 's1', turn: null, seq: 0 }, false],
  ])('the envelope %j fits: %s', (value, fits) => {
    expect(faults(isEnvelope, value).length === 0).toBe(fits);
  });
});

describe('session-event.schema.json', () => {
  /** Whether both take the row; it is a fault when they differ. */
  function taken(row: unknown): boolean {
    const line = JSON.stringify(row);
    const inSchema = faults(isRow, row);
    const parsed = parseSessionEvent(line);
    expect(parsed.ok, `${line}; the schema: ${inSchema.join('; ')}`).toBe(inSchema.length === 0);
    return parsed.ok;
  }

  test('C4.4 X9 X10 X17 the rows of real turns fit, every type among them', async () => {
    const { rows } = await realTurns();
    for (const row of rows) {
      const line = serializeSessionEvent(row);
      expect(faults(isRow, JSON.parse(line)), line).toEqual([]);
      expect(parseSessionEvent(line)).toEqual({ ok: true, event: row });
    }
    const fields = rows.flatMap((row) => Object.keys(row).map((name) => `${row.type} ${name}`));
    const added = ['assistant_message calls_follow', 'thinking_delta meta', 'tool_call meta'];
    expect(fields).toEqual(expect.arrayContaining([...added, 'tool_result abandoned']));
    const types = Object.keys(rowSchema.$defs).slice(0, 7);
    expect([...new Set(rows.map(({ type }) => type))].sort()).toEqual(types.sort());
    expectTypeOf<SessionEvent['type']>().toExtend<keyof typeof rowSchema.$defs>();
  });

  test('X12 the surface of a real long result is the one that is described', async () => {
    const { rows } = await realTurns();
    const surfaces = rows.flatMap((row) => ('surface' in row ? [row.surface] : []));
    expect(surfaces.length).toBeGreaterThan(0);
    for (const surface of surfaces) expect(faults(isOmitted, surface)).toEqual([]);
    const [surface] = surfaces;
    for (const name of rowSchema.$defs.omitted_surface.required) {
      expect(faults(isOmitted, { ...surface, [name]: null }), name).not.toEqual([]);
    }
  });

  const call = { type: 'tool_call', id: 'a', name: 'x', args: {} } as const;
  const answer = { type: 'tool_result', id: 'a', value: null, error: null } as const;
  test.each<SessionEvent>([
    { type: 'turn_start', id: 'turn-0' },
    { type: 'turn_end', id: 'turn-0' },
    { type: 'turn_end', id: '', outcome: 'step_limit' },
    { type: 'turn_end', id: 'turn-0', outcome: { error: { kind: 'generate', message: '' } } },
    { type: 'user_message', text: '' },
    { type: 'user_message', text: 'a\n\u2028', attachments: [picture] },
    { type: 'user_message', text: '', attachments: [] },
    { type: 'assistant_message', text: 'Hi.' },
    { type: 'thinking_delta', text: 'hm' },
    { ...call, args: undefined },
    { ...call, parent_id: 'p' },
    { ...answer, value: NaN, error: '' },
    { ...answer, value: [1], error: 'no', parent_id: 'p', surface: { kind: 'omitted' } },
    { type: 'assistant_message', text: 'See:', calls_follow: true },
    { type: 'thinking_delta', text: '', meta: [null] },
    { ...call, parent_id: 'p', meta: '' },
    { ...answer, error: 'cancelled', abandoned: true },
    { ...answer, surface: { kind: 'truncation', note: 'cut' }, abandoned: true },
  ])('C4.1 C4.4 X9 X10 X17 the row %j is written as the schema says', (row) => {
    expect(faults(isRow, JSON.parse(serializeSessionEvent(row)))).toEqual([]);
  });

  const user = { type: 'user_message', text: 'a' };
  const said = { type: 'assistant_message', text: 'a' };
  const end = { type: 'turn_end', id: 't' };
  test.each<[unknown]>([
    [{ ...user, calls_follow: true, v: { of: 2 } }],
    [{ ...user, attachments: null }],
    [{ ...user, attachments: [{ ...picture, name: null, original: null, more: 1 }] }],
    [{ ...end, outcome: null }],
    [{ ...end, outcome: { error: { kind: 'stream', message: 'torn', more: 1 }, more: 1 } }],
    [{ ...call, args: null, parent_id: null, meta: {} }],
    [{ ...answer, parent_id: null, surface: null, abandoned: null }],
    [{ ...answer, surface: { kind: 'omitted', head_bytes: 'x' }, abandoned: false }],
    [{ ...answer, meta: 5, calls_follow: 'x' }],
    [{ ...said, calls_follow: null }],
    [{ ...said, calls_follow: false, abandoned: 'x' }],
    [{ type: 'thinking_delta', text: 'a', meta: null }],
  ])('C4.4 an unknown field and a null optional are taken: %j', (row) => {
    expect(taken(row)).toBe(true);
  });

  test.each<[unknown]>([
    [null],
    [[]],
    ['turn_start'],
    [{}],
    [{ id: 'turn-0' }],
    [{ type: 'turn_began', id: 'turn-0' }],
    [{ type: null, id: 'turn-0' }],
    [{ type: 'turn_start' }],
    [{ type: 'turn_start', id: null }],
    [{ type: 'turn_start', id: 7 }],
    [{ type: 'turn_end', outcome: 'completed' }],
    [{ ...end, outcome: 'finished' }],
    [{ ...end, outcome: 'error' }],
    [{ ...end, outcome: {} }],
    [{ ...end, outcome: ['completed'] }],
    [{ ...end, outcome: { error: 'stream: torn' } }],
    [{ ...end, outcome: { error: { kind: 'timeout', message: 'late' } } }],
    [{ ...end, outcome: { error: { kind: 'stream' } } }],
    [{ ...end, outcome: { error: { kind: 'stream', message: null } } }],
    [{ type: 'user_message' }],
    [{ ...user, text: null }],
    [{ ...user, attachments: {} }],
    [{ ...user, attachments: [null] }],
    [{ ...user, attachments: [{ ...picture, attachment_id: null }] }],
    [{ ...user, attachments: [{ ...picture, media_type: 'image/svg+xml' }] }],
    [{ ...user, attachments: [{ ...picture, width: '4' }] }],
    [{ ...user, attachments: [{ ...picture, height: null }] }],
    [{ ...user, attachments: [{ ...picture, name: 4 }] }],
    [{ ...user, attachments: [{ ...picture, original: { width: 4, height: 3 } }] }],
    [{ ...user, attachments: [picture, { ...picture, original: [] }] }],
    [{ type: 'assistant_message', text: ['a'] }],
    [{ type: 'thinking_delta', delta: 'a' }],
    [{ type: 'tool_call', id: 'a', name: 'x' }],
    [{ ...call, name: null }],
    [{ ...call, parent_id: 4 }],
    [{ type: 'tool_result', id: 'a', error: null }],
    [{ type: 'tool_result', id: 'a', value: null }],
    [{ ...answer, error: false }],
    [{ ...answer, parent_id: {} }],
    [{ ...answer, surface: 'cut' }],
    [{ ...answer, surface: [] }],
    [{ ...answer, abandoned: 'yes' }],
    [{ ...answer, abandoned: 1 }],
    [{ ...said, calls_follow: 'true' }],
    [{ ...said, calls_follow: [true] }],
    [{ type: 'assistant_message', calls_follow: true }],
    [{ type: 'thinking_delta', meta: { signature: 's' } }],
  ])('C4.1 C4.4 a wrong row is refused: %j', (row) => {
    expect(taken(row)).toBe(false);
  });

  const error = fc.oneof(
    fc.record({ kind: fc.constantFrom('generate', 'stream', 'x', null), message: fc.jsonValue() }),
    fc.jsonValue(),
  );
  const outcome = fc.oneof(fc.constantFrom('completed', 'x'), fc.record({ error }), fc.jsonValue());
  const ref = fc.record(
    Object.fromEntries(
      Object.entries({ ...picture, x: 1 }).map(([key, value]) => [
        key,
        fc.oneof({ arbitrary: fc.constant(value), weight: 9 }, fc.jsonValue({ maxDepth: 1 })),
      ]),
    ),
    { requiredKeys: ['attachment_id', 'media_type'] },
  );
  const field = fc.oneof(
    fc.constantFrom(null, '', 'a', 4, [], {}, true, false),
    outcome,
    fc.array(ref, { maxLength: 2 }),
  );
  const names = ['id', 'name', 'args', 'text', 'value', 'error', 'outcome', 'parent_id'];
  const optional = ['surface', 'attachments', 'calls_follow', 'meta', 'abandoned'];
  const anyRow = fc.record(
    {
      type: fc.constantFrom(...Object.keys(rowSchema.$defs)),
      ...Object.fromEntries([...names, ...optional].map((name) => [name, field])),
    },
    { requiredKeys: ['type'] },
  );

  test('C4.4 schema and codec take and refuse the same rows', () => {
    const verdicts = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(anyRow, (row) => {
        verdicts[taken(overTheWire(row)) ? 'taken' : 'refused'] += 1;
      }),
      { numRuns: 2000 },
    );
    expect(Math.min(verdicts.taken, verdicts.refused)).toBeGreaterThan(50);
  });
});
