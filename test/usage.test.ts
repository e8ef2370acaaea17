import { defaultAgentConfig, zeroUsage, type Usage } from '@celestea/core';
import { expect, test } from 'vitest';

import { createAgentLoop } from '../src/plugin.ts';
import { callTools, say, ScriptedLlm, testContext } from '../src/testing/index.ts';
import { createUsageTracker, UsageTracker } from '../src/usage.ts';

const usage = (prompt: number, completion: number, cached = 0, reasoning = 0): Usage => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  cache_read: cached,
  reasoning_tokens: reasoning,
});

test('L7.3 before any response both are zero', () => {
  const tracker = createUsageTracker();
  expect(tracker).toBeInstanceOf(UsageTracker);
  expect(tracker.latest()).toEqual(usage(0, 0));
  expect(tracker.total()).toEqual(usage(0, 0));
});

test('L7.3 latest is the last response, total the sum', () => {
  const tracker = createUsageTracker();
  tracker.record(usage(10, 5, 2, 1));
  tracker.record(usage(7, 3, 4, 0));
  expect(tracker.latest()).toEqual(usage(7, 3, 4, 0));
  expect(tracker.total()).toEqual(usage(17, 8, 6, 1));
  tracker.record(zeroUsage());
  expect(tracker.latest()).toEqual(usage(0, 0));
  expect(tracker.total()).toEqual(usage(17, 8, 6, 1));
});

test('L7.3 nothing is shared with the caller, in or out', () => {
  const tracker = createUsageTracker();
  const recorded = usage(10, 5, 2, 1);
  tracker.record(recorded);
  recorded.prompt_tokens = 999;
  tracker.latest().prompt_tokens = 888;
  tracker.total().prompt_tokens = 777;
  expect(tracker.latest()).toEqual(usage(10, 5, 2, 1));
  expect(tracker.total()).toEqual(usage(10, 5, 2, 1));
  expect(tracker.latest()).not.toBe(tracker.latest());
  expect(tracker.total()).not.toBe(tracker.total());
  expect(tracker.latest()).not.toBe(tracker.total());
});

test('L7.3 a frozen usage is taken, and fields beyond the five are left', () => {
  const tracker = createUsageTracker();
  tracker.record(Object.freeze({ ...usage(1, 2), cost: 3 }));
  expect(tracker.latest()).toEqual(usage(1, 2));
  expect(tracker.total()).toEqual(usage(1, 2));
});

test('L7.3 a turn records every response, also what comes after the finish frame', async () => {
  const llm = new ScriptedLlm([
    [{ kind: 'usage', usage: usage(10, 1) }, ...callTools({ id: 'a', name: 'x', args: {} })],
    [...say('Done.'), { kind: 'usage', usage: usage(20, 2, 8, 1) }],
  ]);
  const tracker = createUsageTracker();
  const loop = createAgentLoop(defaultAgentConfig(), { usage: tracker });
  expect(loop.usageTracker).toBe(tracker);
  expect(await loop.runTurnOutcome(testContext({ llm }), 'Go.')).toBe('completed');
  expect(tracker.latest()).toEqual(usage(20, 2, 8, 1));
  expect(tracker.total()).toEqual(usage(30, 3, 8, 1));
});

test('L7.3 without a tracker usage is dropped', async () => {
  const llm = new ScriptedLlm([[{ kind: 'usage', usage: usage(10, 1) }, ...say('Done.')]]);
  const loop = createAgentLoop(defaultAgentConfig());
  expect(loop.usageTracker).toBeUndefined();
  expect(await loop.runTurnOutcome(testContext({ llm }), 'Go.')).toBe('completed');
});
