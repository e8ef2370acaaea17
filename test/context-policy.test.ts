import {
  AgentError,
  defaultAgentConfig,
  systemMessage,
  userMessage,
  type Message,
} from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { ContextBudgetError } from '../src/context-fit.ts';
import { trimContext, type TrimResult } from '../src/context-trim.ts';
import { DefaultAgentLoop } from '../src/loop.ts';
import type { ContextPolicy, ContextPolicyInput } from '../src/options.ts';
import {
  assertLogValid,
  callTools,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
} from '../src/testing/index.ts';

const config = defaultAgentConfig({ model: 'm', system_prompt: 'Be brief.' });
const sent = (messages: Message[]): TrimResult => ({
  messages,
  outcome: { removedMessages: 0, removedTokens: 0, trimmed: true },
});
const summary = [systemMessage('Earlier: nothing.'), userMessage('new?')];
const failed = (message: string) => ({ error: { kind: 'generate', message } });

/** A policy as a host in plain JavaScript may write it. */
const loose = (policy: (input: ContextPolicyInput) => unknown): ContextPolicy =>
  policy as ContextPolicy;

async function turnWith(contextPolicy: ContextPolicy, signal?: AbortSignal) {
  const log = new FakeSessionLog();
  const llm = new ScriptedLlm([say('Hi.')]);
  const loop = new DefaultAgentLoop(config, { contextPolicy, signal });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log }), 'new?');
  assertLogValid(log.rows);
  return { outcome, requests: llm.requests.map(({ messages }) => messages), log };
}

const snapshotWith = (contextPolicy: ContextPolicy) =>
  new DefaultAgentLoop(config, { contextPolicy }).contextSnapshot(
    testContext({ llm: new ScriptedLlm([]) }),
  );

describe('a context policy', () => {
  test.each<[string, ContextPolicy]>([
    ['at once', () => sent(summary)],
    ['later', () => Promise.resolve(sent(summary))],
    ['after a while', () => new Promise((resolve) => setImmediate(resolve, sent(summary)))],
  ])('X7 what it answers %s is sent', async (_, policy) => {
    const { outcome, requests } = await turnWith(policy);
    expect(outcome).toBe('completed');
    expect(requests).toEqual([summary]);
  });

  test('X7 it is told the history, the price of the prompt, the config and a signal', async () => {
    const seen: ContextPolicyInput[] = [];
    const llm = new ScriptedLlm([callTools({ id: 'a', name: 'time', args: {} }), say('Noon.')]);
    const contextPolicy: ContextPolicy = (input) => {
      seen.push(input);
      return sent([...input.messages]);
    };
    const ctx = testContext({ llm, tools: new FakeToolRegistry({ time: () => 'noon' }) });
    await new DefaultAgentLoop(config, { contextPolicy }).runTurn(ctx, 'new?');
    expect(seen.map(({ messages }) => messages.length)).toEqual([1, 3]);
    expect(seen.map(({ systemTokens }) => systemTokens)).toEqual([3, 3]);
    expect(seen[0]?.config).toEqual(config);
    expect(seen[0]?.signal).toBeInstanceOf(AbortSignal);
    expect(seen[0]?.signal.aborted).toBe(false);
  });

  test.each<[string, (error: unknown) => unknown]>([
    ['throws', (error) => { throw error; }],
    [
      'rejects',
      async (error) => {
        await Promise.resolve();
        throw error;
      },
    ],
  ])('X7 one that %s ends the turn with error{generate}, and nothing is sent', async (_, fail) => {
    const { outcome, requests } = await turnWith(loose(() => fail(new Error('no summary'))));
    expect(outcome).toEqual(failed('no summary'));
    expect(requests).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'undefined'],
    ['null', null, 'undefined'],
    ['a text', 'all of it', 'undefined'],
    ['messages alone', [userMessage('new?')], 'undefined'],
    ['messages of a wrong type', { messages: 'all' }, '"all"'],
  ])('X7 one that answers %s ends the turn with error{generate}', async (_, answer, came) => {
    const message = `messages of the context policy: expected an array, got ${came}`;
    for (const policy of [loose(() => answer), loose(() => Promise.resolve(answer))]) {
      const { outcome, requests } = await turnWith(policy);
      expect(outcome).toEqual(failed(message));
      expect(requests).toEqual([]);
    }
    expect(() => snapshotWith(loose(() => answer))).toThrow(new TypeError(message));
  });

  test('X7 one that hangs does not keep a cancelled turn; its signal fires', async () => {
    const controller = new AbortController();
    const signals: AbortSignal[] = [];
    const running = turnWith(({ signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    }, controller.signal);
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort('enough');
    const { outcome, requests } = await running;
    expect(outcome).toBe('cancelled');
    expect(requests).toEqual([]);
    expect(signals.map(({ aborted, reason }) => [aborted, reason as unknown])).toEqual([
      [true, 'enough'],
    ]);
  });

  test('X7 one that rejects after the cancel is not heard', async () => {
    const controller = new AbortController();
    const { outcome } = await turnWith(async ({ signal }) => {
      controller.abort();
      await new Promise((resolve) => setImmediate(resolve));
      expect(signal.aborted).toBe(true);
      throw new Error('too late');
    }, controller.signal);
    expect(outcome).toBe('cancelled');
    await new Promise((resolve) => setImmediate(resolve));
  });

  test("X1 X7 a turn's own policy replaces the loop's", async () => {
    const llm = new ScriptedLlm([say('Hi.')]);
    const loop = new DefaultAgentLoop(config, { contextPolicy: () => sent([]) });
    await loop.runTurn(testContext({ llm }), 'new?', { contextPolicy: () => sent(summary) });
    expect(llm.requests.map(({ messages }) => messages)).toEqual([summary]);
  });
});

describe('the snapshot', () => {
  test('X7 is what the policy answers at once', () => {
    expect(snapshotWith(() => sent(summary)).messages).toEqual(summary);
    expect(() =>
      snapshotWith(() => {
        throw new RangeError('no summary');
      }),
    ).toThrow(new RangeError('no summary'));
  });

  test.each<[string, () => unknown]>([
    ['a promise', () => Promise.resolve(sent(summary))],
    ['a promise that rejects', () => Promise.reject(new Error('never heard'))],
    ['one that never settles', () => new Promise(() => undefined)],
    [
      'a promise of another make',
      () => ({
        then: (take: (of: TrimResult) => void) => {
          take(sent(summary));
        },
      }),
    ],
  ])('X7 with %s it is an AgentError that says so', async (_, answer) => {
    expect(() => snapshotWith(loose(answer))).toThrow(
      new AgentError('contextSnapshot needs a context policy that answers at once, not a promise'),
    );
    await new Promise((resolve) => setImmediate(resolve)); // nothing goes unhandled
  });

  test('X7 is by default the request that fits, or says that none does', () => {
    const log = new FakeSessionLog({ rows: [{ type: 'user_message', text: 'x'.repeat(4000) }] });
    const ctx = testContext({ llm: new ScriptedLlm([]), log });
    const snapshot = (context_window_tokens: number) =>
      new DefaultAgentLoop({ ...config, context_window_tokens }).contextSnapshot(ctx).messages;
    expect(snapshot(2000)).toEqual([userMessage('x'.repeat(4000))]);
    expect(JSON.stringify(snapshot(1000))).toMatch(/x\\n\[context-trimmed\] \d+ bytes left out/);
    expect(() => snapshot(10)).toThrow(ContextBudgetError);
    const plain: ContextPolicy = ({ messages, systemTokens, config: of }) =>
      trimContext(messages, systemTokens, of.context_window_tokens, 1, 1);
    const small = { ...config, context_window_tokens: 10 };
    const bound = new DefaultAgentLoop(small, { contextPolicy: plain });
    expect(bound.contextSnapshot(ctx).messages).toEqual([userMessage('x'.repeat(4000))]);
  });
});
