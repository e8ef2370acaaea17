import { llmContract, type LlmScenario, type LlmUnderTest } from '@celestea/core/contracts';
import { assert } from 'vitest';

import { ArrangedLlm } from './arranged-llm.ts';
import type { Bend } from './bent-llm.ts';

/** A broken Llm, and the titles of the tests that it does not pass. */
export type Fault = [
  what: string,
  bend: Bend,
  fail: readonly string[],
  hang?: readonly string[],
];

export interface Registered {
  readonly title: string;
  readonly run: () => Promise<void>;
}

/** The tests that the suite registers, none of them run. */
export function registered(
  make: Parameters<typeof llmContract>[0],
  scenarios?: readonly LlmScenario[],
): Registered[] {
  const tests: Registered[] = [];
  const collect = (title: string, run: () => Promise<void>) => tests.push({ title, run });
  llmContract(make, { test: collect, assert }, scenarios);
  return tests;
}

const underTest = (model: ArrangedLlm, bend: Bend): LlmUnderTest => ({
  llm: bend(model),
  released: async () => {
    await Promise.resolve();
    assert.equal(model.playing, 0, 'replies that are still being played');
  },
});

/**
 * The titles of the tests that do not pass, by how they end. Without timers all that can happen
 * happens before the next macrotask, so what has not settled by then never will.
 */
export async function faultsOf(bend: Bend): Promise<{ fail: string[]; hang: string[] }> {
  const fail: string[] = [];
  const hang: string[] = [];
  const models: ArrangedLlm[] = [];
  const tests = registered((_, replies) => {
    const model = new ArrangedLlm(replies);
    models.push(model);
    return underTest(model, bend);
  });
  for (const { title, run } of tests) {
    const ended = run().then(
      () => null,
      () => fail,
    );
    const idle = new Promise<string[]>((resolve) => {
      setImmediate(resolve, hang);
    });
    const into = await Promise.race([ended, idle]);
    into?.push(title.replace('llm, ', ''));
  }
  for (const model of models) model.free();
  return { fail: fail.sort(), hang: hang.sort() };
}
