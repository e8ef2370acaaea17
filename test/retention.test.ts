import {
  Context,
  defaultAgentConfig,
  deriveMessagesFrom,
  LLM_SERVICE,
  messageText,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type Tool,
  type ToolCall,
  type ToolRegistry,
  type ToolResultRow,
} from '@celestea/core';
import { describe, expect, test } from 'vitest';

import type { Diagnostic } from '../src/diagnostics.ts';
import { createAgentLoop } from '../src/plugin.ts';
import {
  resolveRetention,
  RETENTION_SERVICE,
  toolResultRetention,
  type SpillRef,
  type ToolResultRetention,
} from '../src/retention.ts';
import {
  assertLogValid,
  callTools,
  collectingSink,
  FakeSessionLog,
  FakeToolRegistry,
  Gate,
  say,
  ScriptedLlm,
  testContext,
} from '../src/testing/index.ts';
import { rawRegistry } from './support/turn.ts';

const ref: SpillRef = { locator: '/tmp/r1', bytes: 0, retrievalHint: 'Read it with read_file.' };

/** Sizes that a test can count: 20 bytes a result, 50 a step, 4 and 2 shown. */
const small = (spill: ToolResultRetention['spill'] = () => Promise.resolve(ref), more = {}) =>
  toolResultRetention(spill, {
    singleResultBytes: 20,
    stepResultBytes: 50,
    previewHeadBytes: 4,
    previewTailBytes: 2,
    ...more,
  });

interface Setting {
  readonly results?: unknown[];
  readonly names?: string[];
  readonly signal?: AbortSignal;
  readonly tools?: ToolRegistry;
}

/** One step with a call a result, then an answer. */
async function play(policy: unknown, setting: Setting = {}) {
  const { results = [], names = [], signal } = setting;
  const { sink, events } = collectingSink();
  const log = new FakeSessionLog();
  const calls = (setting.tools === undefined ? results : ['']).map(
    (_, index): ToolCall => ({ id: `c${String(index)}`, name: names[index] ?? 'get', args: index }),
  );
  const llm = new ScriptedLlm([callTools(...calls), say('Done.')]);
  const get = (args: unknown): unknown => results[args as number];
  const tools = setting.tools ?? new FakeToolRegistry({ get, read_file: get });
  const diagnostics: Diagnostic[] = [];
  const onDiagnostic = (one: Diagnostic): void => void diagnostics.push(one);
  const ctx = testContext({ llm, log, tools });
  ctx.provide(RETENTION_SERVICE, policy as ToolResultRetention);
  const loop = createAgentLoop(defaultAgentConfig(), { sink, signal, onDiagnostic });
  const outcome = await loop.runTurnOutcome(ctx, 'go');
  assertLogValid(log.rows);
  return {
    outcome,
    diagnostics,
    rows: log.rows.filter((row): row is ToolResultRow => row.type === 'tool_result'),
    shown: events.flatMap((event) => (event.kind === 'tool_result' ? [event.value] : [])),
    sent: llm.requests[1]?.messages.slice(2).map(messageText),
    log,
    llm,
  };
}

const digits = '0123456789'.repeat(3);
const notice = '[24 of 30 bytes left out; the whole result is at /tmp/r1. Read it with read_file.]';
const surface = {
  kind: 'omitted',
  omitted_bytes: 24,
  total_bytes: 30,
  locator: '/tmp/r1',
  retrieval_hint: 'Read it with read_file.',
  head_bytes: 4,
  tail_bytes: 2,
};

describe('what is spilled', () => {
  test('X12 the row keeps the original, model and sink see head, notice, tail', async () => {
    const spilled: [string, string][] = [];
    const spill: ToolResultRetention['spill'] = (text, { callId }) => {
      spilled.push([text, callId]);
      return Promise.resolve(ref);
    };
    const { rows, shown, sent, log, llm } = await play(small(spill), { results: [digits] });
    expect(spilled).toEqual([[digits, 'c0']]);
    expect(rows).toEqual([{ type: 'tool_result', id: 'c0', value: digits, error: null, surface }]);
    expect(shown).toEqual([`0123\n${notice}\n89`]);
    expect(sent).toEqual([`0123\n${notice}\n89`]);
    const replayed = deriveMessagesFrom(JSON.parse(JSON.stringify(log.rows)) as typeof log.rows);
    expect(replayed.slice(0, 3)).toEqual(llm.requests[1]?.messages);
  });

  test('X12 head and tail are cut at code points, and the counts are exact', async () => {
    const { rows, sent } = await play(small(), { results: ['é'.repeat(9) + '😀'.repeat(3)] });
    expect(rows[0]?.surface).toMatchObject({
      omitted_bytes: 26,
      total_bytes: 30,
      head_bytes: 4,
      tail_bytes: 0,
    });
    expect(sent?.[0]).toMatch(/^éé\n\[26 of 30 bytes left out; .*\]\n$/);
  });

  test.each<[string, unknown, boolean]>([
    ['at the limit', 'x'.repeat(20), false],
    ['one over', 'x'.repeat(21), true],
    ['bytes count, not characters', 'é'.repeat(11), true],
    ['an object, whatever its size', { text: digits }, false],
    ['a number', 7, false],
    ['an empty text', '', false],
  ])('X12 the limit of one result: %s', async (_, result, over) => {
    const { rows, shown } = await play(small(), { results: [result] });
    expect(rows[0]?.surface !== undefined).toBe(over);
    expect(rows[0]?.value).toEqual(result);
    if (!over) expect(shown).toEqual([result]);
  });

  test('X12 the limit of a step counts what is shown, in the order of the calls', async () => {
    // 20 and 11 fit into 50; 20 more do not and show 6, twice; 7 fit to the byte, 7 more do not
    const results = [20, 11, 20, 20, 7, 7, 0].map((length) => 'x'.repeat(length));
    const { rows, diagnostics } = await play(small(), { results });
    expect(rows.map((row) => row.surface !== undefined)).toEqual([
      ...[false, false, true, true, false, true, false],
    ]);
    expect(diagnostics).toEqual([]);
  });

  test('X12 what is no text counts nothing, and the texts after it are counted', async () => {
    const results = [{ text: digits }, ...[20, 20, 20].map((length) => 'x'.repeat(length))];
    const { rows } = await play(small(), { results });
    expect(rows.map((row) => row.surface !== undefined)).toEqual([false, false, false, true]);
  });

  test('X12 sizes of 0 show nothing of a text', async () => {
    const none = { singleResultBytes: 0, stepResultBytes: 0 };
    const sizes = { ...none, previewHeadBytes: 0, previewTailBytes: 0 };
    const { rows } = await play(small(undefined, sizes), { results: ['x', ''] });
    expect(rows.map((row) => row.surface)).toEqual([
      { ...surface, omitted_bytes: 1, total_bytes: 1, head_bytes: 0, tail_bytes: 0 },
      undefined,
    ]);
  });

  test('X12 a failure that has a value too is shown whole', async () => {
    const tools = rawRegistry(({ call_id }) =>
      Promise.resolve({ call_id, value: digits, render: null, error: 'late', decision: null }),
    );
    const { rows, shown } = await play(small(), { tools });
    expect(rows).toEqual([{ type: 'tool_result', id: 'c0', value: digits, error: 'late' }]);
    expect(shown).toEqual([digits]);
  });

  test('C5.1 X12 null is no policy, and hides a parent’s', async () => {
    const { outcome, rows } = await play(null, { results: [digits] });
    expect(outcome).toBe('completed');
    expect(rows).toEqual([{ type: 'tool_result', id: 'c0', value: digits, error: null }]);
    const parent = Context.root().provide(RETENTION_SERVICE, small());
    expect(resolveRetention(parent.scoped())).not.toBeNull();
    expect(resolveRetention(parent.scoped().provide(RETENTION_SERVICE, null))).toBeNull();
  });

  test('X12 the token has a name of its own', () => {
    expect(RETENTION_SERVICE).toBe('celestea.agent-loop.ToolResultRetention');
  });

  test('X12 a step that follows starts anew', async () => {
    const log = new FakeSessionLog();
    const call = (id: string): ToolCall => ({ id, name: 'get', args: {} });
    const step = (id: string) => callTools(call(id), call(`${id}2`));
    const llm = new ScriptedLlm([step('a'), step('b'), say('.')]);
    const tools = new FakeToolRegistry({ get: () => 'x'.repeat(20) });
    const ctx = testContext({ llm, log, tools }).provide(RETENTION_SERVICE, small());
    await createAgentLoop(defaultAgentConfig()).runTurn(ctx, 'go');
    const results = log.rows.filter((row): row is ToolResultRow => row.type === 'tool_result');
    expect(results.map((row) => row.surface)).toEqual(Array.from({ length: 4 }));
  });

  test('X12 a failure is shown whole, and so is what a preview would show whole', async () => {
    const failing = new FakeToolRegistry({
      get: () => {
        throw new Error(digits);
      },
    });
    expect((await play(small(), { tools: failing })).rows[0]).toEqual({
      type: 'tool_result',
      id: 'c0',
      value: null,
      error: digits,
    });
    const wide = small(undefined, { previewHeadBytes: 30 });
    expect((await play(wide, { results: [digits] })).rows[0]?.surface).toBeUndefined();
  });

  test('X12 read_file is exempt', async () => {
    const { rows } = await play(small(), { results: [digits, digits], names: ['read_file'] });
    expect(rows.map((row) => row.surface !== undefined)).toEqual([false, true]);
  });

  test('X12 without a policy nothing is', async () => {
    const { rows, sent } = await play(undefined, { results: ['x'.repeat(200_000)] });
    expect(rows[0]?.surface).toBeUndefined();
    expect(sent?.[0]).toHaveLength(200_002);
  });

  test('X12 the default sizes', () => {
    const spill = () => Promise.resolve(ref);
    expect(toolResultRetention(spill)).toEqual({
      singleResultBytes: 65_536,
      stepResultBytes: 131_072,
      previewHeadBytes: 4096,
      previewTailBytes: 1024,
      spill,
    });
  });
});

describe('a spill that fails leaves the result as it is', () => {
  const bad = {
    get locator(): string {
      throw new Error('a getter that throws');
    },
  };
  test.each<[string, () => unknown, number]>([
    ['says so', () => Promise.resolve(null), 0],
    ['rejects', () => Promise.reject(new Error('disk full')), 1],
    [
      'throws',
      () => {
        throw new Error('disk full');
      },
      1,
    ],
    ['answers nothing', () => undefined, 1],
    ['answers a text', () => Promise.resolve('/tmp/r1'), 1],
    ['names no place', () => Promise.resolve({ ...ref, locator: 7 }), 1],
    ['gives no hint', () => Promise.resolve({ locator: '/tmp/r1', bytes: 1 }), 1],
    ['answers what cannot be read', () => Promise.resolve(bad), 1],
  ])('X12 X15 one that %s', async (_, spill, told) => {
    const policy = small(spill as ToolResultRetention['spill']);
    const { outcome, rows, shown, sent, diagnostics } = await play(policy, { results: [digits] });
    expect(outcome).toBe('completed');
    expect(rows).toEqual([{ type: 'tool_result', id: 'c0', value: digits, error: null }]);
    expect(shown).toEqual([digits]);
    expect(sent).toEqual([JSON.stringify(digits)]);
    expect(diagnostics.map(({ kind, message }) => [kind, message])).toEqual(
      Array.from({ length: told }, () => ['spill_failed', 'the result of get was not spilled']),
    );
  });

  test.each<[answer: unknown, came: string]>([
    [undefined, 'undefined'],
    ['/tmp/r1', '"/tmp/r1"'],
    [{ ...ref, locator: 7 }, 'an object'],
  ])('X12 X15 an answer of %j is named', async (answer, came) => {
    const policy = small((() => answer) as ToolResultRetention['spill']);
    const { diagnostics } = await play(policy, { results: [digits] });
    const error = new TypeError(`spill: expected a SpillRef or null, got ${came}`);
    expect(diagnostics.map((one) => one.error)).toEqual([error]);
  });

  test('X12 one that hangs does not keep a cancelled turn, and none starts after it', async () => {
    const controller = new AbortController();
    const gate = new Gate();
    let spills = 0;
    const policy = small(async () => {
      spills += 1;
      await gate.wait();
      return ref;
    });
    const running = play(policy, { results: [digits, digits], signal: controller.signal });
    while (gate.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    const { outcome, rows } = await running;
    expect(outcome).toBe('cancelled');
    expect(spills).toBe(1);
    gate.open();
    await new Promise((resolve) => setImmediate(resolve));
    expect(spills).toBe(1);
    expect(rows).toEqual(
      ['c0', 'c1'].map((id) => ({ type: 'tool_result', id, value: digits, error: null })),
    );
  });
});

describe('a surface that a tool made', () => {
  const authored = (given: object): ToolRegistry => {
    const tools = new FakeToolRegistry();
    const tool: Tool = {
      spec: () => ({ name: 'get', description: '', parameters: {} }),
      execute: () => Promise.resolve(null),
      executeWith: () => Promise.resolve({ value: digits, render: null, surface: { ...given } }),
    };
    tools.register(tool);
    return tools;
  };

  test('X12 a truncation is kept on the row, told to the model, and never spilled', async () => {
    const cut = { kind: 'truncation', note: 'Only the first 30 bytes are shown.' };
    const spill = () => Promise.reject(new Error('nobody asks'));
    const { rows, shown, sent, diagnostics } = await play(small(spill), { tools: authored(cut) });
    expect(rows[0]).toMatchObject({ value: digits, surface: cut });
    expect(shown).toEqual([digits]);
    expect(sent).toEqual([`"${digits}"\nOnly the first 30 bytes are shown.`]);
    expect(diagnostics).toEqual([]);
  });

  test('X12 without a policy it is the same', async () => {
    const cut = { kind: 'truncation', note: 'Cut.' };
    const { sent } = await play(undefined, { tools: authored(cut) });
    expect(sent).toEqual([`"${digits}"\nCut.`]);
  });
});

test.each<[string, unknown, string]>([
  ['a text', 'spill', 'retention: expected an object, got "spill"'],
  ['a function', () => null, 'retention: expected an object, got a function'],
  ['no spill', { ...small(), spill: undefined }, 'retention.spill: expected a function, got undefined'],
  ...['20', NaN, -1, null, true, undefined].map((size): [string, unknown, string] => {
    const came = typeof size === 'string' ? `"${size}"` : String(size);
    const message = `retention.stepResultBytes: expected bytes, 0 or more, got ${came}`;
    return [`a size of ${came}`, small(undefined, { stepResultBytes: size }), message];
  }),
  [
    'a head of a wrong type',
    small(undefined, { previewHeadBytes: [] }),
    'retention.previewHeadBytes: expected bytes, 0 or more, got an array',
  ],
  [
    'a tail of a wrong type',
    small(undefined, { previewTailBytes: {} }),
    'retention.previewTailBytes: expected bytes, 0 or more, got an object',
  ],
  [
    'a limit of a wrong type',
    small(undefined, { singleResultBytes: 1n }),
    'retention.singleResultBytes: expected bytes, 0 or more, got a bigint',
  ],
])('X12 %s is a TypeError before anything is written', async (_, policy, message) => {
  const log = new FakeSessionLog();
  const { sink, events } = collectingSink();
  const ctx = Context.root()
    .provide(LLM_SERVICE, new ScriptedLlm([]))
    .provide(SESSION_LOG_SERVICE, log)
    .provide(TOOL_REGISTRY_SERVICE, new FakeToolRegistry())
    .provide(RETENTION_SERVICE, policy as ToolResultRetention);
  const loop = createAgentLoop(defaultAgentConfig(), { sink });
  await expect(loop.runTurn(ctx, 'go')).rejects.toThrow(new TypeError(message));
  expect(log.rows).toEqual([]);
  expect(events).toEqual([]);
});
