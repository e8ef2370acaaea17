import {
  DefaultAgentLoop,
  defaultAgentConfig,
  estimateMessagesTokens,
  estimateTokens,
} from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
} from '@celestea/agent-loop/testing';
import {
  serdeJsonString,
  type LoopEvent,
  type ModelRequest,
  type SessionEvent,
} from '@celestea/core';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';

import { textBlock } from '../support/histories.ts';
import { assertRequestValid } from '../support/request-checker.ts';
import { holds, RUNS } from './laws.ts';
import { budgetOf } from './model.ts';
import { runWorld } from './run-world.ts';
import { worlds } from './worlds-arbitrary.ts';

/** Every text in a value, keys included. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, of]) => [key, ...textsIn(of)]);
}

/** A result may spell an escape out in its own text, which is well-formed. */
const plain = (request: ModelRequest): ModelRequest => ({
  ...request,
  messages: request.messages.map((message) => ({
    ...message,
    content: message.content.map((block) =>
      block.type === 'text' ? textBlock(block.content.replaceAll('\\u', '/u')) : block,
    ),
  })),
});

function checkRequest(request: ModelRequest, rows: readonly SessionEvent[]): void {
  assertRequestValid(plain(request));
  const torn = textsIn(plain(request).messages).filter((text) => !text.isWellFormed());
  expect(torn).toEqual([]);
  checkArguments(request, argsOf(rows));
}

/** Lone surrogates of a log are sent as the replacement character. */
const mended = (value: unknown): string =>
  serdeJsonString(value).replaceAll('\\ud83d', '\ufffd');

/** Arguments as the log has them, by call id. */
function argsOf(rows: readonly SessionEvent[]): Map<string, string> {
  return new Map(
    rows.flatMap((row) => (row.type === 'tool_call' ? [[row.id, mended(row.args)]] : [])),
  );
}

function checkArguments({ messages }: ModelRequest, args: Map<string, string>): void {
  for (const block of messages.flatMap(({ content }) => content)) {
    if (block.type !== 'tool_call') continue;
    const shown = mended(block.content.args);
    if (shown.startsWith('{"notice":"[context-trimmed]')) continue;
    expect(shown).toBe(args.get(block.content.id));
  }
}

test('L5.1 L5.3 C4.6 X7 X9 X11 strict providers take every request, and it fits', async () => {
  await holds(({ world, requests, log }) => {
    const budget = budgetOf(world);
    for (const request of requests) {
      checkRequest(request, log.rows);
      if (budget === null || world.policy !== null) continue;
      const prompt = estimateTokens(request.system ?? '');
      expect(prompt + estimateMessagesTokens(request.messages)).toBeLessThanOrEqual(budget);
    }
  });
});

test('L7.3 X14 usage is the sum of what the model said', async () => {
  await holds(({ delivered, total, aborts, world }) => {
    const said = delivered.flatMap((item) =>
      item !== 'end' && item.kind === 'usage' ? [item.tokens] : [],
    );
    const sum = (of: readonly number[]): number => of.reduce((all, one) => all + one, 0);
    const { prompt_tokens, completion_tokens } = total;
    const short = said.slice(0, completion_tokens);
    expect(prompt_tokens).toBe(sum(short));
    // What was on its way when the turn gave up may be lost, and no more.
    const mayLose = aborts.length > 0 || world.timeouts.stream > 0;
    expect(said.length - short.length).toBeLessThanOrEqual(mayLose ? 1 : 0);
  });
});

test('X6 a message that came in is in the log or still in the source, once', async () => {
  await holds(({ world, rows, posted, waiting, fault }) => {
    if (fault !== null) return;
    const texts = rows.flatMap((row) => (row.type === 'user_message' ? [row.text] : []));
    const taken = texts.slice(world.input === null ? 0 : 1);
    const all = [...taken, ...waiting.map((text) => `[from Ann] ${text}`)];
    expect(all.map((text) => text.toWellFormed())).toEqual(
      posted.map((text) => `[from Ann] ${text.toWellFormed()}`),
    );
  });
});

test('X3 C4.6 L5.1 a second turn on the same log works, whatever became of the first', async () => {
  await holds(async ({ world, log, fault }) => {
    const before = log.rows.length;
    const llm = new ScriptedLlm([callTools({ id: 'a', name: 'look', args: {} }), say('Fine.')]);
    const tools = new FakeToolRegistry({ look: () => 'here' });
    const loop = new DefaultAgentLoop(defaultAgentConfig({ context_window_tokens: 0 }));
    const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'and now?');
    expect(outcome).toBe('completed');
    expect(llm.requests).toHaveLength(2);
    for (const request of llm.requests) {
      checkRequest(request, log.rows);
    }
    expect(tools.dispatched, 'no call of the earlier turn runs again').toHaveLength(1);
    assertLogValid(log.rows.slice(before));
    if (fault === null && world.history.length === 0) assertLogValid(log.rows);
  });
});

/** An event as text: values that are made anew each run differ in identity alone. */
const shown = (events: readonly LoopEvent[]): string[] => events.map(serdeJsonString);

test('X5 streamTurn gives the events that a sink is told', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const counted = { ...world, aborts: [], steering: null };
      vi.clearAllTimers();
      const told = await runWorld(counted);
      vi.clearAllTimers();
      const pulled = await runWorld(counted, 'stream');
      expect(shown(pulled.events)).toEqual(shown(told.events));
      expect(serdeJsonString(pulled.rows)).toBe(serdeJsonString(told.rows));
      expect(Object.keys(pulled.settled)).toEqual(Object.keys(told.settled));
      expect(pulled.unhandled).toEqual([]);
      expect(pulled.left).toEqual({ listeners: 0, timers: 0 });
    }),
    { numRuns: RUNS },
  );
});
