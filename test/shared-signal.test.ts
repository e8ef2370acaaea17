import { getEventListeners } from 'node:events';

import { DefaultAgentLoop, defaultAgentConfig } from '@celestea/agent-loop';
import {
  callTools,
  FakeToolRegistry,
  Gate,
  HangingLlm,
  say,
  ScriptedLlm,
  testContext,
} from '@celestea/agent-loop/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';

const warnings: string[] = [];
const onWarning = ({ name }: Error): void => {
  warnings.push(name);
};
beforeEach(() => {
  warnings.length = 0;
  process.on('warning', onWarning);
});
afterEach(() => {
  process.off('warning', onWarning);
});

const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('L6.4 many turns under one signal hold one listener on it, and one cancel ends them all', async () => {
  const host = new AbortController();
  const loop = new DefaultAgentLoop(defaultAgentConfig(), { signal: host.signal });
  const turns = Array.from({ length: 50 }, () =>
    loop.runTurnOutcome(testContext({ llm: new HangingLlm() }), 'hi'),
  );
  await macrotask();
  expect(getEventListeners(host.signal, 'abort').length).toBe(1);
  host.abort();
  expect(new Set(await Promise.all(turns))).toEqual(new Set(['cancelled']));
  expect(getEventListeners(host.signal, 'abort').length).toBe(0);
  await macrotask();
  expect(warnings).toEqual([]);
});

test('L6.4 a turn that ends leaves the others their listener', async () => {
  const host = new AbortController();
  const loop = new DefaultAgentLoop(defaultAgentConfig(), { signal: host.signal });
  const running = loop.runTurnOutcome(testContext({ llm: new HangingLlm() }), 'hi');
  const quick = testContext({ llm: new ScriptedLlm([say('done')]) });
  expect(await loop.runTurnOutcome(quick, 'hi')).toBe('completed');
  expect(getEventListeners(host.signal, 'abort').length).toBe(1);
  host.abort();
  expect(await running).toBe('cancelled');
});

test('L7.2 X13 twenty tools with a limit each make no warning', async () => {
  const gate = new Gate();
  const calls = Array.from({ length: 20 }, (_, index) => ({
    id: String(index),
    name: 'wait',
    args: {},
  }));
  const config = defaultAgentConfig({ max_parallel_tool_calls: 20 });
  const turn = new DefaultAgentLoop(config).runTurnOutcome(
    testContext({
      llm: new ScriptedLlm([callTools(...calls), say('done')]),
      tools: new FakeToolRegistry({ wait: () => gate.wait() }),
    }),
    'hi',
    { timeouts: { toolMs: 60_000 } },
  );
  while (gate.waiting < 20) await macrotask();
  gate.open();
  expect(await turn).toBe('completed');
  expect(warnings).toEqual([]);
});
