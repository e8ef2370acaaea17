import { createAgentLoop } from '@celestea/agent-loop';
import {
  callTools,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
} from '@celestea/agent-loop/testing';
import { defaultAgentConfig } from '@celestea/core';
import { expect, test, vi } from 'vitest';

import { call, quiet } from './support/turn.ts';

test('X13 what a tool gives because it is stopped comes too late, and it is told why', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const reasons: unknown[] = [];
  const tools = new FakeToolRegistry({
    echo: (_, { signal }) =>
      new Promise((resolve) => {
        const stop = (): void => {
          reasons.push(signal?.reason);
          resolve('partly');
        };
        signal?.addEventListener('abort', stop, { once: true });
      }),
  });
  const log = new FakeSessionLog();
  const llm = new ScriptedLlm([callTools(call('a'), call('b')), say('Hi.')]);
  const turn = createAgentLoop(defaultAgentConfig()).runTurn(testContext({ llm, tools, log }), 'go', {
    timeouts: { toolMs: 100 },
  });
  await quiet();
  await vi.advanceTimersByTimeAsync(100);
  await turn;
  vi.useRealTimers();
  const results = log.rows.flatMap((row) => (row.type === 'tool_result' ? [row.error] : []));
  const late = 'timed out: the tool gave no result within 100 ms; its outcome is not known';
  expect(results).toEqual([late, late]);
  expect(reasons[0]).toMatchObject({ name: 'TimeoutError', message: 'waited 100 ms' });
});
