import { setImmediate } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { DefaultAgentLoop } from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  collectingSink,
  done,
  FakeSessionLog,
  FakeToolRegistry,
  HangingLlm,
  say,
  ScriptedLlm,
  testContext,
  think,
  type Script,
} from '@celestea/agent-loop/testing';
import {
  AgentError,
  Context,
  defaultAgentConfig,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type SessionEvent,
  type ToolRegistry,
} from '@celestea/core';

const loop = new DefaultAgentLoop(defaultAgentConfig());

/** What a promise rejected with, or what it resolved to as `resolved`. */
const settled = (promise: Promise<unknown>): Promise<{ error: unknown } | { resolved: unknown }> =>
  promise.then(
    (resolved) => ({ resolved }),
    (error: unknown) => ({ error }),
  );

/** That a promise rejected with this very error, not with one that looks like it. */
const expectError = (result: { error: unknown } | { resolved: unknown }, fault: Error): void => {
  expect(result).toHaveProperty('error');
  expect('error' in result && result.error).toBe(fault);
};

const tokens: { llm: string; log: string; tools: string } = {
  llm: LLM_SERVICE,
  log: SESSION_LOG_SERVICE,
  tools: TOOL_REGISTRY_SERVICE,
};
const missing = {
  llm: 'missing LlmService in context',
  log: 'missing SessionLog service in context',
  tools: 'missing ToolRegistryService in context',
};
type Seam = keyof typeof tokens;

const without: { left: Seam[]; named: Seam }[] = [
  { left: ['llm'], named: 'llm' },
  { left: ['log'], named: 'log' },
  { left: ['tools'], named: 'tools' },
  { left: ['log', 'tools'], named: 'log' },
  { left: ['llm', 'tools'], named: 'llm' },
  { left: ['llm', 'log', 'tools'], named: 'llm' },
];

describe('finding the seams', () => {
  test.each(without)('L2.1 without $left the turn names $named', async ({ left, named }) => {
    const log = new FakeSessionLog();
    const llm = new ScriptedLlm([say('hi')]);
    const { sink, events } = collectingSink();
    const ctx = testContext({ llm, log });
    for (const seam of left) ctx.provide(tokens[seam], undefined);
    const bound = new DefaultAgentLoop(defaultAgentConfig(), { sink });
    for (const running of [bound.runTurnOutcome(ctx, 'go'), bound.runTurn(ctx, 'go')]) {
      const result = await settled(running);
      expect(result).toEqual({ error: new AgentError(missing[named]) });
      expect(result).toHaveProperty('error.name', 'AgentError');
    }
    expect(log.rows).toEqual([]);
    expect(events).toEqual([]);
    expect(llm.requests).toEqual([]);
  });

  test('L2.1 a service that is null is missing, and one of the parent scope is found', async () => {
    const parent = testContext({ llm: new ScriptedLlm([say('hi')]) });
    expect(await loop.runTurnOutcome(parent.scoped(), 'go')).toBe('completed');
    const hidden = parent.scoped().provide(LLM_SERVICE, null);
    await expect(loop.runTurn(hidden, 'go')).rejects.toThrow(new AgentError(missing.llm));
  });

  test('L2.1 an empty context rejects; it does not throw at the caller', async () => {
    const running = loop.runTurnOutcome(Context.root(), 'go');
    expect(running).toBeInstanceOf(Promise);
    await expect(running).rejects.toThrow(AgentError);
  });

  test('L2.1 a turn id is not used up when a seam is missing', async () => {
    const log = new FakeSessionLog();
    const ctx = testContext({ llm: new ScriptedLlm([say('hi')]), log });
    const bare = ctx.scoped().provide(TOOL_REGISTRY_SERVICE, undefined);
    await expect(loop.runTurn(bare, 'go')).rejects.toThrow(missing.tools);
    await loop.runTurn(ctx, 'go');
    expect(log.rows[0]).toEqual({ type: 'turn_start', id: 'turn-0' });
  });
});

test.each<[ctx: unknown, came: string]>([
  [undefined, 'undefined'],
  [null, 'null'],
  [[], 'an array'],
  ['ctx', '"ctx"'],
  [{}, 'an object'],
  [{ get: 1 }, 'an object'],
  [Object.assign(() => null, { get: () => null }), 'a function'],
])('X1 a ctx that is no Context is a TypeError: %o', async (ctx, came) => {
  const message = `ctx: expected a Context, got ${came}`;
  const result = await settled(loop.runTurn(ctx as Context, 'go'));
  expect(result).toEqual({ error: new TypeError(message) });
});

const notObjects: [service: unknown, came: string][] = [
  ['a text', '"a text"'],
  [7, '7'],
  [() => null, 'a function'],
];

test.each(
  (['llm', 'log', 'tools'] as const).flatMap((seam) =>
    notObjects.map(([service, came]) => ({ seam, service, came })),
  ),
)('X1 a service that is no object is a TypeError: $seam is $came', async (wrong) => {
  const { seam, service, came } = wrong;
  const ctx = testContext({ llm: new ScriptedLlm([]) }).provide(tokens[seam], service);
  const message = `${missing[seam].replace('missing ', '')}: expected an object, got ${came}`;
  expect(await settled(loop.runTurn(ctx, 'go'))).toEqual({ error: new TypeError(message) });
});

const call = (id: string) => ({ id, name: 'echo', args: { of: id } });

/** Thinking at every place it can stand, calls in two batches, a reply. */
const richScripts: Script[] = [
  [
    think('first'),
    { kind: 'text', text: 'Let me look.' },
    think('then'),
    done('', call('a'), call('b'), call('c')),
    think('late'),
  ],
  [think('so'), { kind: 'text', text: 'It is ' }, think('hm'), done('It is noon.')],
];

const richRows: SessionEvent[] = [
  { type: 'turn_start', id: 'turn-0' },
  { type: 'user_message', text: 'go' },
  { type: 'thinking_delta', text: 'first' },
  { type: 'thinking_delta', text: 'then' },
  { type: 'thinking_delta', text: 'late' },
  { type: 'tool_call', id: 'a', name: 'echo', args: { of: 'a' } },
  { type: 'tool_call', id: 'b', name: 'echo', args: { of: 'b' } },
  { type: 'tool_call', id: 'c', name: 'echo', args: { of: 'c' } },
  { type: 'tool_result', id: 'a', value: { of: 'a' }, error: null },
  { type: 'tool_result', id: 'b', value: { of: 'b' }, error: null },
  { type: 'tool_result', id: 'c', value: { of: 'c' }, error: null },
  { type: 'thinking_delta', text: 'so' },
  { type: 'thinking_delta', text: 'hm' },
  { type: 'assistant_message', text: 'It is noon.' },
  { type: 'turn_end', id: 'turn-0', outcome: 'completed' },
];
const last = richRows.length - 1;

interface Breakage {
  onAppend?: (row: SessionEvent, index: number) => void;
  signal?: AbortSignal;
}

/** The rich turn on a log that breaks as it is told. */
async function runRich({ onAppend, signal }: Breakage) {
  const llm = new ScriptedLlm(richScripts);
  const log = new FakeSessionLog(onAppend === undefined ? {} : { onAppend });
  const tools = new FakeToolRegistry({ echo: (args) => args });
  const { sink, events } = collectingSink();
  const config = defaultAgentConfig({ max_parallel_tool_calls: 2 });
  const bound = new DefaultAgentLoop(config, signal === undefined ? { sink } : { sink, signal });
  const result = await settled(bound.runTurnOutcome(testContext({ llm, log, tools }), 'go'));
  const rows = [...log.rows];
  const told = [...events];
  await setImmediate();
  expect(log.rows, 'nothing is written after the turn').toEqual(rows);
  expect(events, 'nothing is told after the turn').toEqual(told);
  expect(llm.fates, 'no stream is left open').not.toContain('open');
  return { result, rows, events, ends: events.filter((event) => event.kind === 'turn_end') };
}

const everyRow = richRows.map((row, index) => ({ index, type: row.type }));
const diskFull = { error: { kind: 'generate', message: 'disk full' } } as const;

describe('a log that breaks', () => {
  test('L2.7 the turn below, with a log that works', async () => {
    const { result, rows } = await runRich({});
    expect(result).toEqual({ resolved: 'completed' });
    expect(rows).toEqual(richRows);
    assertLogValid(rows);
  });

  test.each(everyRow)('L2.7 row $index, $type, fails once', async ({ index }) => {
    const fault = new Error('disk full');
    let broken = false;
    const { result, rows, ends } = await runRich({
      onAppend: (_, at) => {
        if (at !== index || broken) return;
        broken = true;
        throw fault;
      },
    });
    expectError(result, fault);
    if (index === 0) {
      expect(rows).toEqual([]);
      expect(ends).toEqual([]);
    } else if (index === last) {
      expect(rows, 'a failing turn_end is not retried').toEqual(richRows.slice(0, last));
      expect(ends).toHaveLength(1);
    } else {
      expect(rows.slice(0, index)).toEqual(richRows.slice(0, index));
      expect(rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome: diskFull });
      expect(rows.filter((row) => row.type === 'turn_end')).toHaveLength(1);
      expect(ends).toEqual([{ kind: 'turn_end', outcome: diskFull }]);
      assertLogValid(rows);
    }
  });

  test.each(everyRow)('L2.7 from row $index, $type, on all fail', async ({ index }) => {
    const fault = new Error('disk full');
    const tries: string[] = [];
    const { result, rows, ends, events } = await runRich({
      onAppend: (row, at) => {
        if (at < index) return;
        tries.push(row.type);
        throw at === index && tries.length === 1 ? fault : new Error('a later fault');
      },
    });
    expectError(result, fault);
    expect(rows).toEqual(richRows.slice(0, index));
    expect(ends).toHaveLength(index === 0 ? 0 : 1);
    if (index > 0) expect(events.at(-1)?.kind).toBe('turn_end');
    expect(tries.filter((type) => type === 'turn_end')).toHaveLength(index === 0 ? 0 : 1);
  });

  test.each(everyRow)('L2.7 row $index, $type, cancels and fails', async ({ index }) => {
    const fault = new Error('disk full');
    const controller = new AbortController();
    const { result, rows, ends } = await runRich({
      signal: controller.signal,
      onAppend: (_, at) => {
        if (at !== index || controller.signal.aborted) return;
        controller.abort();
        throw fault;
      },
    });
    expectError(result, fault);
    expect(ends).toHaveLength(index === 0 ? 0 : 1);
    if (index > 0 && index < last) assertLogValid(rows);
  });

  test.each([{ fault: 'disk full' }, { fault: undefined }, { fault: null }, { fault: 28 }])(
    'L2.7 what the log throws comes back as it is: $fault',
    async ({ fault }) => {
      const { result, rows } = await runRich({
        onAppend: (row) => {
          // A log may throw anything at all.
          // eslint-disable-next-line @typescript-eslint/only-throw-error
          if (row.type === 'user_message') throw fault;
        },
      });
      expect(result).toStrictEqual({ error: fault });
      const outcome = { error: { kind: 'generate', message: String(fault) } };
      expect(rows.slice(1)).toEqual([{ type: 'turn_end', id: 'turn-0', outcome }]);
    },
  );

  test('L2.7 a nextTurnId that throws: nothing is written, nothing is told', async () => {
    const fault = new Error('no counter');
    const { sink, events } = collectingSink();
    const log = new FakeSessionLog();
    log.nextTurnId = () => {
      throw fault;
    };
    const llm = new ScriptedLlm([say('hi')]);
    const bound = new DefaultAgentLoop(defaultAgentConfig(), { sink });
    const result = await settled(bound.runTurnOutcome(testContext({ llm, log }), 'go'));
    expectError(result, fault);
    expect(log.rows).toEqual([]);
    expect(events).toEqual([]);
    expect(llm.requests).toEqual([]);
  });

  test.each([1, 2])('L2.7 a deriveMessages that throws at request %i', async (failing) => {
    const fault = new Error('bad projection');
    let derived = 0;
    const log = new FakeSessionLog({
      onDerive: () => {
        derived += 1;
        if (derived === failing) throw fault;
      },
    });
    const { sink, events } = collectingSink();
    const llm = new ScriptedLlm([callTools(call('a')), say('hi')]);
    const bound = new DefaultAgentLoop(defaultAgentConfig(), { sink });
    const result = await settled(bound.runTurnOutcome(testContext({ llm, log }), 'go'));
    expectError(result, fault);
    const outcome = { error: { kind: 'generate', message: 'bad projection' } };
    expect(log.rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome });
    expect(events.at(-1)).toEqual({ kind: 'turn_end', outcome });
    expect(llm.requests).toHaveLength(failing - 1);
    assertLogValid(log.rows);
  });
});

describe('a registry that breaks', () => {
  test('L2.7 schemas that throws', async () => {
    const fault = new Error('no schemas');
    const tools: ToolRegistry = new FakeToolRegistry();
    tools.schemas = () => {
      throw fault;
    };
    const log = new FakeSessionLog();
    const { sink, events } = collectingSink();
    const bound = new DefaultAgentLoop(defaultAgentConfig(), { sink });
    const ctx = testContext({ llm: new HangingLlm(), log, tools });
    expectError(await settled(bound.runTurnOutcome(ctx, 'go')), fault);
    const outcome = { error: { kind: 'generate', message: 'no schemas' } };
    expect(log.rows).toEqual([
      { type: 'turn_start', id: 'turn-0' },
      { type: 'user_message', text: 'go' },
      { type: 'turn_end', id: 'turn-0', outcome },
    ]);
    expect(events).toEqual([{ kind: 'turn_end', outcome }]);
  });

  test('L2.7 a broken turn leaves a log that the next turn can run on', async () => {
    let broken = false;
    const log = new FakeSessionLog({
      onAppend: (row) => {
        if (row.type !== 'tool_result' || broken) return;
        broken = true;
        throw new Error('disk full');
      },
    });
    const tools = new FakeToolRegistry({ echo: (args) => args });
    const llm = new ScriptedLlm([callTools(call('a'), call('b')), say('hi')]);
    const ctx = testContext({ llm, log, tools });
    await expect(loop.runTurn(ctx, 'go')).rejects.toThrow('disk full');
    expect(await loop.runTurnOutcome(ctx, 'again')).toBe('completed');
    assertLogValid(log.rows);
    expect(log.rows.filter((row) => row.type === 'tool_result')).toEqual([
      { type: 'tool_result', id: 'a', value: { of: 'a' }, error: null },
      { type: 'tool_result', id: 'b', value: { of: 'b' }, error: null },
    ]);
  });
});
