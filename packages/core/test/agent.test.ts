import { expect, expectTypeOf, test } from 'vitest';

import {
  AgentError,
  Context,
  defaultAgentConfig,
  type AgentConfig,
  type AgentLoop,
  type AgentTurnOptions,
  type ImageRef,
  type LoopEvent,
} from '@celestea/core';

import { picture } from './support.ts';

test('C5.4 AgentError is an Error', () => {
  const cause = new Error('why');
  const error = new AgentError('no model', { cause });
  expect(error).toBeInstanceOf(Error);
  expect(error).toBeInstanceOf(AgentError);
  expect(error.name).toBe('AgentError');
  expect(error.message).toBe('no model');
  expect(error.cause).toBe(cause);
  expect(String(error)).toBe('AgentError: no model');
});

test('C5.4 a loop runs a turn over a scope, with an input or null', async () => {
  const ran: unknown[] = [];
  const loop = {
    runTurn: (ctx: Context, userInput: string | null, turn?: unknown) => {
      ran.push(ctx, userInput, turn);
      return Promise.resolve();
    },
  } satisfies AgentLoop;
  const ctx = Context.root();
  const turn = loop.runTurn(ctx, null);
  expectTypeOf(turn).toEqualTypeOf<Promise<void>>();
  await expect(turn).resolves.toBe(undefined);
  expect(ran).toEqual([ctx, null, undefined]);
  expectTypeOf<Parameters<AgentLoop['runTurn']>>().toEqualTypeOf<
    [
      ctx: Context,
      userInput: string | null,
      turn?: readonly ImageRef[] | AgentTurnOptions | undefined,
    ]
  >();
});

test('C5.4 the third argument is attachments or options; a loop may know more', async () => {
  expectTypeOf<AgentTurnOptions>().toEqualTypeOf<{
    attachments?: readonly ImageRef[] | undefined;
    signal?: AbortSignal | undefined;
    sink?: ((event: LoopEvent) => void) | undefined;
  }>();
  const given: unknown[] = [];
  const knowing: AgentLoop = {
    runTurn(_ctx, _input, turn?: readonly ImageRef[] | (AgentTurnOptions & { more?: number })) {
      given.push(turn);
      return Promise.resolve();
    },
  };
  const deaf: AgentLoop = { runTurn: () => Promise.resolve() };
  const attachments = [picture(1)];
  const { signal } = new AbortController();
  for (const loop of [knowing, deaf]) {
    await loop.runTurn(Context.root(), 'go', attachments);
    await loop.runTurn(Context.root(), 'go', { attachments, signal, sink: undefined });
  }
  expect(given).toStrictEqual([attachments, { attachments, signal, sink: undefined }]);
});

test('C5.5 the default configuration', () => {
  const { system_prompt, ...rest } = defaultAgentConfig();
  expect(rest).toStrictEqual({
    model: 'deepseek-chat',
    max_steps: 16,
    max_parallel_tool_calls: 4,
    context_window_tokens: 65536,
    context_trim_threshold: 0.8,
    context_keep_recent: 10,
  });
  expect(system_prompt).toMatch(/^[A-Z][^.!?\n]*\bcelestea\b[^.!?\n]*\.$/);
  expect(system_prompt.length).toBeLessThan(100);
});

test('C5.5 overrides win, one by one, and the defaults stay as they are', () => {
  const overrides: AgentConfig = {
    model: 'm',
    system_prompt: '',
    max_steps: 0,
    max_parallel_tool_calls: 1,
    context_window_tokens: 2,
    context_trim_threshold: 0,
    context_keep_recent: 3,
  };
  expect(defaultAgentConfig(Object.freeze(overrides))).toStrictEqual(overrides);
  expect(defaultAgentConfig({ max_steps: 3 })).toStrictEqual({
    ...defaultAgentConfig(),
    max_steps: 3,
  });
  defaultAgentConfig().max_steps = 99;
  expect(defaultAgentConfig().max_steps).toBe(16);
  expectTypeOf(defaultAgentConfig).parameter(0).toEqualTypeOf<
    Partial<AgentConfig> | undefined
  >();
});
