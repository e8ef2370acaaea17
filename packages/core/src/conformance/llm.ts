import type { Llm, ModelRequest } from '../model.ts';
import type { ContractFramework } from './framework.ts';
import { ANSWERS } from './llm-answers.ts';
import { ENDINGS } from './llm-endings.ts';
import { FAILURES } from './llm-failures.ts';
import { contractRequest } from './llm-kit.ts';
import { LLM_CONTRACT_REPLIES, LLM_SCENARIOS } from './llm-replies.ts';
import type { LlmContractReply, LlmScenario } from './llm-replies.ts';

/** A new Llm whose model behaves as the scenario says, with what the suite needs besides. */
export interface LlmUnderTest {
  readonly llm: Llm;
  /** What it is to be asked, where it answers other requests differently. */
  readonly request?: ModelRequest;
  /** What it really gives, where it cannot be made to give what was arranged. */
  readonly replies?: readonly LlmContractReply[];
  /**
   * Settles once a request is with the model, so that an abort finds it waiting for the reply.
   * Without it the signal aborts as soon as `generate` was called.
   */
  readonly reached?: () => Promise<unknown>;
  /**
   * Settles once the model no longer works on a reply: it was sent to its end, or its connection
   * was closed. Left out where nothing can tell.
   */
  readonly released?: () => Promise<unknown>;
  /** Called, and awaited, after each test. */
  readonly dispose?: () => unknown;
}

/**
 * The contract of an {@link Llm} (C1.3, C1.5, C2.2 to C2.4, X2, X8, X10) as tests. `make` is told
 * what the model is to send, one entry a request ({@link LLM_CONTRACT_REPLIES}), and gives a new
 * Llm for each test. One that cannot be made to behave in every way is held to other `scenarios`
 * alone; what C2.3 leaves free, to heed a signal, is in `silent`, `stalled` and `aborted`.
 *
 * Nothing here looks at a clock. An Llm that hangs makes its test hang, and it is the framework's
 * own limit that ends the test.
 *
 * @example
 * import { test } from 'node:test';
 * import assert from 'node:assert/strict';
 * llmContract(
 *   async (scenario, replies) => {
 *     const server = await startModelServer(replies);
 *     return { llm: new MyLlm(server.url), dispose: () => server.close() };
 *   },
 *   { test, assert },
 *   ['words', 'calls', 'refused', 'torn'],
 * );
 */
export function llmContract(
  make: (
    scenario: LlmScenario,
    replies: readonly LlmContractReply[],
  ) => LlmUnderTest | Promise<LlmUnderTest>,
  { test, assert }: ContractFramework,
  scenarios: readonly LlmScenario[] = LLM_SCENARIOS,
): void {
  for (const { scenario, title, run } of [...ANSWERS, ...FAILURES, ...ENDINGS]) {
    if (!scenarios.includes(scenario)) continue;
    test(`llm, ${scenario}: ${title}`, async () => {
      const arranged = LLM_CONTRACT_REPLIES[scenario];
      const made = await make(scenario, arranged);
      const { llm, request = contractRequest(), replies = arranged } = made;
      try {
        await run({
          llm,
          request: structuredClone(request),
          replies,
          reached: async () => made.reached?.(),
          released: async () => made.released?.(),
          assert,
        });
      } finally {
        await made.dispose?.();
      }
    });
  }
}
