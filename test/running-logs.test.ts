import { describe, expect, test } from 'vitest';

import type { DefaultAgentLoop } from '@celestea/agent-loop';
import { createAgentLoop } from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  collectingSink,
  failingLlm,
  FakeSessionLog,
  FakeToolRegistry,
  Gate,
  say,
  ScriptedLlm,
  testContext,
} from '@celestea/agent-loop/testing';
import type {
  Context} from '@celestea/core';
import {
  AgentError,
  defaultAgentConfig,
  LLM_SERVICE,
  type Llm,
  type SessionEvent,
} from '@celestea/core';

import { call, quiet, settled } from './support/turn.ts';

const config = defaultAgentConfig();
const MESSAGE = 'a turn is already running on this session log';

const faces: [name: string, run: (loop: DefaultAgentLoop, ctx: Context) => Promise<unknown>][] = [
  ['runTurn', (loop, ctx) => loop.runTurn(ctx, 'second')],
  ['runTurnOutcome', (loop, ctx) => loop.runTurnOutcome(ctx, 'second')],
  ['streamTurn', (loop, ctx) => loop.streamTurn(ctx, 'second').outcome],
];

/** A turn that waits at a gate in the middle of its reply. */
function waitingTurn() {
  const gate = new Gate();
  const log = new FakeSessionLog();
  const llm = new ScriptedLlm([[() => gate.wait(), ...say('one')], say('two')]);
  const loop = createAgentLoop(config);
  const ctx = testContext({ llm, log });
  return { gate, log, llm, ctx, loop, running: loop.runTurnOutcome(ctx, 'first') };
}

describe.each(faces)('X3 a second turn on a log that is running one, by %s', (_, run) => {
  test.each(['the same loop', 'another loop'])('X3 of %s is refused', async (of) => {
    const { gate, log, llm, ctx, loop, running } = waitingTurn();
    await quiet();
    const before = [...log.rows];
    const { sink, events } = collectingSink();
    const second = of === 'the same loop' ? loop : createAgentLoop(config, { sink });
    for (const time of [1, 2, 3]) {
      const result = await settled(run(second, ctx));
      expect(result, `time ${String(time)}`).toEqual({ error: new AgentError(MESSAGE) });
      expect(result).toHaveProperty('error.name', 'AgentError');
    }
    expect(log.rows).toEqual(before);
    expect(events).toEqual([]);
    expect(llm.requests).toHaveLength(1);
    gate.open();
    expect(await running).toBe('completed');
    expect(await loop.runTurnOutcome(ctx, 'third')).toBe('completed');
    expect(log.rows).toEqual([
      { type: 'turn_start', id: 'turn-0' },
      { type: 'user_message', text: 'first' },
      { type: 'assistant_message', text: 'one' },
      { type: 'turn_end', id: 'turn-0', outcome: 'completed' },
      { type: 'turn_start', id: 'turn-1' },
      { type: 'user_message', text: 'third' },
      { type: 'assistant_message', text: 'two' },
      { type: 'turn_end', id: 'turn-1', outcome: 'completed' },
    ]);
  });
});

describe('X3 while a turn runs', () => {
  test('X3 a second one is refused from the first moment to the last', async () => {
    const states: string[] = [];
    const loop = createAgentLoop(config, {
      sink: ({ kind }) => void probe(kind),
      prepareStep: () => void probe('prepareStep'),
    });
    const log = new FakeSessionLog({
      onAppend: ({ type }) => void probe(type),
      onFlush: () => void probe('flush'),
    });
    const ctx = testContext({ llm: new ScriptedLlm([say('Hi.')]), log });
    const probe = async (at: string): Promise<void> => {
      const result = await settled(loop.runTurn(ctx, 'second'));
      states.push('error' in result ? at : `${at} was let in`);
    };
    await loop.runTurn(ctx, 'first');
    expect(states.sort()).toEqual([
      ...['assistant_message', 'done', 'flush', 'flush', 'prepareStep', 'text'],
      ...['turn_end', 'turn_end', 'turn_start', 'user_message'],
    ]);
    assertLogValid(log.rows);
  });

  test('X3 a tool that starts a turn on its own log is answered with the refusal', async () => {
    const log = new FakeSessionLog();
    const loop = createAgentLoop(config);
    const llm = new ScriptedLlm([callTools(call('a')), say('Hi.')]);
    const tools = new FakeToolRegistry({ echo: () => loop.runTurn(ctx, 'inside') });
    const ctx: Context = testContext({ llm, log, tools });
    expect(await loop.runTurnOutcome(ctx, 'go')).toBe('completed');
    expect(log.rows[3]).toEqual({ type: 'tool_result', id: 'a', value: null, error: MESSAGE });
  });

  test('X3 misuse beside it does not release it', async () => {
    const { gate, ctx, loop, running } = waitingTurn();
    await quiet();
    await expect(Reflect.apply(loop.runTurn.bind(loop), null, [ctx, 7])).rejects.toThrow(TypeError);
    const bare = ctx.scoped().provide(LLM_SERVICE, null);
    await expect(loop.runTurn(bare, 'go')).rejects.toThrow('missing LlmService in context');
    await expect(loop.runTurn(ctx, 'go')).rejects.toThrow(MESSAGE);
    expect(loop.contextSnapshot(ctx).messages).toHaveLength(1);
    gate.open();
    expect(await running).toBe('completed');
  });
});

const brokenAt = (type: SessionEvent['type']) => {
  let broken = false;
  return new FakeSessionLog({
    onAppend: (row) => {
      if (row.type !== type || broken) return;
      broken = true;
      throw new Error('disk full');
    },
  });
};

function flushBrokenAt(time: number): FakeSessionLog {
  let flushes = 0;
  return new FakeSessionLog({
    onFlush: () => {
      flushes += 1;
      if (flushes === time) throw new Error('disk full');
    },
  });
}

function withoutCounter(): FakeSessionLog {
  const log = new FakeSessionLog();
  const nextTurnId = log.nextTurnId.bind(log);
  log.nextTurnId = () => {
    log.nextTurnId = nextTurnId;
    throw new Error('disk full');
  };
  return log;
}

const rejected = { error: new Error('disk full') };

describe('X3 the log is free again', () => {
  test.each<[name: string, log: FakeSessionLog, first: Llm, result: unknown]>([
    ['completed', new FakeSessionLog(), new ScriptedLlm([say('x')]), { resolved: 'completed' }],
    [
      'interrupted',
      new FakeSessionLog(),
      new ScriptedLlm([[{ kind: 'interrupted' }]]),
      { resolved: 'interrupted' },
    ],
    [
      'failed',
      new FakeSessionLog(),
      failingLlm(new Error('no model')),
      { resolved: { error: { kind: 'generate', message: 'no model' } } },
    ],
    ['nextTurnId threw', withoutCounter(), new ScriptedLlm([]), rejected],
    ['turn_start failed', brokenAt('turn_start'), new ScriptedLlm([]), rejected],
    ['user_message failed', brokenAt('user_message'), new ScriptedLlm([]), rejected],
    ['turn_end failed', brokenAt('turn_end'), new ScriptedLlm([say('x')]), rejected],
    ['the first flush failed', flushBrokenAt(1), new ScriptedLlm([]), rejected],
    ['the last flush failed', flushBrokenAt(2), new ScriptedLlm([say('x')]), rejected],
  ])('X3 after a turn that ended so: %s', async (_, log, first, result) => {
    const loop = createAgentLoop(config);
    const ctx = testContext({ llm: first, log });
    expect(await settled(loop.runTurnOutcome(ctx, 'go'))).toEqual(result);
    const next = testContext({ llm: new ScriptedLlm([say('Hi.')]), log });
    expect(await loop.runTurnOutcome(next, 'again')).toBe('completed');
  });

  test('X3 after a turn that was cancelled', async () => {
    const { log, ctx, loop, running, gate } = waitingTurn();
    gate.open();
    await running;
    expect(await loop.runTurnOutcome(ctx, 'go', { signal: AbortSignal.abort() })).toBe('cancelled');
    const next = testContext({ llm: new ScriptedLlm([say('Hi.')]), log });
    expect(await loop.runTurnOutcome(next, 'again')).toBe('completed');
  });

  test('X3 as soon as the promise settled, not later', async () => {
    const log = new FakeSessionLog();
    const loop = createAgentLoop(config);
    const ctx = testContext({ llm: new ScriptedLlm([say('one'), say('two')]), log });
    const both = loop.runTurnOutcome(ctx, 'a').then(() => loop.runTurnOutcome(ctx, 'b'));
    expect(await both).toBe('completed');
  });
});

test('X3 turns on fifty logs run side by side, by one loop', async () => {
  const loop = createAgentLoop(config);
  const gate = new Gate();
  let running = 0;
  let most = 0;
  const echo = async (args: unknown): Promise<unknown> => {
    running += 1;
    most = Math.max(most, running);
    await gate.wait();
    running -= 1;
    return args;
  };
  const logs = Array.from({ length: 50 }, () => new FakeSessionLog());
  const turns = logs.map((log, index) => {
    const llm = new ScriptedLlm([callTools(call(`c${String(index)}`)), say(String(index))]);
    const ctx = testContext({ llm, log, tools: new FakeToolRegistry({ echo }) });
    return loop.runTurnOutcome(ctx, String(index));
  });
  await quiet();
  gate.open();
  expect(await Promise.all(turns)).toEqual(logs.map(() => 'completed'));
  expect(most).toBe(50);
  logs.forEach((log, index) => {
    assertLogValid(log.rows);
    expect(log.rows.at(-2)).toEqual({ type: 'assistant_message', text: String(index) });
    expect(log.rows).toHaveLength(6);
  });
});
