import { describe, expect, test } from 'vitest';

import { createAgentLoop, type AgentLoopBindings, type PrepareStep } from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  type Script,
} from '@celestea/agent-loop/testing';
import { defaultAgentConfig, userMessage, type ModelRequest } from '@celestea/core';

import { call, quiet } from './support/turn.ts';

const usage = (tokens: number): Script => [
  {
    kind: 'usage',
    usage: {
      prompt_tokens: tokens,
      completion_tokens: 1,
      total_tokens: tokens + 1,
      cache_read: 2,
      reasoning_tokens: 3,
    },
  },
];

const scripts: Script[] = [
  [...usage(10), ...usage(20), ...callTools(call('a'))],
  [...usage(40), ...callTools(call('b'))],
  say('Hi.'),
];

async function play(
  prepareStep: unknown,
  bindings: AgentLoopBindings = {},
  log = new FakeSessionLog(),
) {
  const llm = new ScriptedLlm(scripts);
  const tools = new FakeToolRegistry({ echo: (args) => args });
  const config = defaultAgentConfig({ model: 'big', system_prompt: 'Be brief.' });
  const hook = { prepareStep: prepareStep as PrepareStep };
  const loop = createAgentLoop(config, { ...bindings, ...hook });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  await quiet();
  assertLogValid(log.rows);
  return { outcome, requests: llm.requests, rows: log.rows };
}

const failed = (message: string) => ({ error: { kind: 'generate', message } });

describe('X14 prepareStep', () => {
  test('X14 is asked once a step, counted from 0, with what the responses cost', async () => {
    const infos: unknown[] = [];
    const { outcome } = await play((_: ModelRequest, info: unknown) => void infos.push(info));
    expect(outcome).toBe('completed');
    const cost = (prompt: number, responses: number) => ({
      prompt_tokens: prompt,
      completion_tokens: responses,
      total_tokens: prompt + responses,
      cache_read: 2 * responses,
      reasoning_tokens: 3 * responses,
    });
    expect(infos).toEqual([
      { step: 0, usage: cost(0, 0) },
      { step: 1, usage: cost(30, 2) },
      { step: 2, usage: cost(70, 3) },
    ]);
  });

  test('X14 counts each turn anew', async () => {
    const log = new FakeSessionLog();
    const infos: [number, number][] = [];
    const hook: PrepareStep = (_, { step, usage: { prompt_tokens } }) => {
      infos.push([step, prompt_tokens]);
    };
    await play(hook, {}, log);
    await play(hook, {}, log);
    expect(infos).toEqual([
      ...[[0, 0], [1, 30], [2, 70]],
      ...[[0, 0], [1, 30], [2, 70]],
    ]);
  });

  test('X14 its usage is a copy, and is there without a tracker', async () => {
    const seen: number[] = [];
    await play((_: ModelRequest, info: { usage: { prompt_tokens: number } }) => {
      seen.push(info.usage.prompt_tokens);
      info.usage.prompt_tokens = 1_000;
    });
    expect(seen).toEqual([0, 30, 70]);
  });

  test('X14 gets the request that would be sent, after the context policy', async () => {
    const order: string[] = [];
    const given: ModelRequest[] = [];
    const { requests } = await play(
      (request: ModelRequest) => {
        order.push('prepareStep');
        given.push(request);
      },
      {
        contextPolicy: () => {
          order.push('policy');
          const outcome = { removedMessages: 0, removedTokens: 0, trimmed: false };
          return { messages: [userMessage('short')], outcome };
        },
      },
    );
    expect(order).toEqual(Array(3).fill(['policy', 'prepareStep']).flat());
    expect(given[0]).toEqual({
      model: 'big',
      system: 'Be brief.',
      messages: [userMessage('short')],
      tools: [
        { name: 'echo', description: 'the fake tool echo', parameters: { type: 'object' } },
      ],
      max_tokens: null,
      temperature: null,
    });
    expect(requests).toEqual(given);
  });

  test.each<[name: string, prepare: PrepareStep]>([
    ['at once', (request) => ({ ...request, ...changes })],
    ['in its own time', (request) => quiet(1).then(() => ({ ...request, ...changes }))],
    ['in place', (request) => void Object.assign(request, changes)],
  ])('X14 changes model, tools, limits and messages of that step: %s', async (_, prepare) => {
    const { requests, rows } = await play((request: ModelRequest, info: { step: number }) =>
      info.step === 1 ? prepare(request, { ...info, usage: zero }) : undefined,
    );
    expect(requests[1]).toEqual({ ...changes, system: 'Be brief.' });
    expect(requests.map(({ model }) => model)).toEqual(['big', 'small', 'big']);
    expect(requests[2]?.tools).toHaveLength(1);
    expect(requests[2]?.messages).toHaveLength(5);
    expect(rows.filter(({ type }) => type === 'user_message')).toHaveLength(1);
  });

  test.each([
    ['undefined', () => undefined],
    ['null', () => null],
    ['a promise of nothing', () => Promise.resolve()],
  ])('X14 one that gives %s leaves the request as it is', async (_, prepare) => {
    const { outcome, requests } = await play(prepare);
    expect(outcome).toBe('completed');
    expect(requests.map(({ model }) => model)).toEqual(['big', 'big', 'big']);
  });

  test.each<[name: string, prepare: () => unknown, message: string]>([
    [
      'throws',
      () => {
        throw new Error('no budget');
      },
      'no budget',
    ],
    ['rejects', () => quiet(1).then(() => Promise.reject(new Error('no budget'))), 'no budget'],
    [
      'throws no Error',
      () => {
        // A hook may throw anything at all.
        // eslint-disable-next-line @typescript-eslint/only-throw-error
        throw 'no budget';
      },
      'no budget',
    ],
    [
      'gives a text',
      () => 'small',
      'messages of the request from prepareStep: expected an array, got undefined',
    ],
    [
      'gives a request without messages',
      () => ({ tools: [] }),
      'messages of the request from prepareStep: expected an array, got undefined',
    ],
    [
      'gives a request without tools',
      () => ({ messages: [] }),
      'tools of the request from prepareStep: expected an array, got undefined',
    ],
  ])('X14 one that %s is error{generate}, and nothing is sent', async (_, prepare, message) => {
    const first = await play(prepare);
    expect(first.outcome).toEqual(failed(message));
    expect(first.requests).toEqual([]);
    const second = await play((__: ModelRequest, { step }: { step: number }) =>
      step === 1 ? prepare() : undefined,
    );
    expect(second.outcome).toEqual(failed(message));
    expect(second.requests).toHaveLength(1);
    expect(second.rows.at(-1)).toMatchObject({ type: 'turn_end', outcome: failed(message) });
  });

  test('X14 a cancel wins over its throw', async () => {
    const controller = new AbortController();
    const { outcome } = await play(
      () => {
        controller.abort();
        throw new Error('no budget');
      },
      { signal: controller.signal },
    );
    expect(outcome).toBe('cancelled');
  });

  test('X14 it is not asked when the context policy fails, nor by contextSnapshot', async () => {
    let asked = 0;
    const { outcome } = await play(
      () => {
        asked += 1;
      },
      {
        contextPolicy: () => {
          throw new Error('no policy');
        },
      },
    );
    expect(outcome).toEqual(failed('no policy'));
    const loop = createAgentLoop(defaultAgentConfig(), { prepareStep: () => void (asked += 1) });
    loop.contextSnapshot(testContext({ llm: new ScriptedLlm([]) }));
    expect(asked).toBe(0);
  });
});

const changes = {
  model: 'small',
  messages: [userMessage('changed')],
  tools: [],
  max_tokens: 7,
  temperature: 0.5,
};

const zero = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cache_read: 0,
  reasoning_tokens: 0,
};
