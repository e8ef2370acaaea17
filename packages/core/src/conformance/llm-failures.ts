import { isTerminalStreamEvent, LlmError } from '../model.ts';
import {
  arranged,
  arrangedWords,
  assertTells,
  hear,
  kindsOf,
  saidBy,
  wholeReply,
  wordsOf,
  type Heard,
  type HeldLlm,
  type LlmTest,
} from './llm-kit.ts';
import type { LlmContractRefusal, LlmContractTear, LlmScenario } from './llm-replies.ts';
import { watchedSignal } from './watched-signal.ts';

function llmErrorOf({ events, failure }: Heard): LlmError {
  if (failure === null) throw new Error(`nothing was thrown after ${kindsOf(events)}`);
  if (failure.error instanceof LlmError) return failure.error;
  throw new Error(`an LlmError should have been thrown, not ${saidBy(failure.error)}`);
}

function refusal({ replies: [reply] }: HeldLlm): LlmContractRefusal {
  if (reply?.ends === 'refused') return reply;
  throw new TypeError('replies[0]: expected one that ends "refused"');
}

function tear({ replies: [reply] }: HeldLlm): LlmContractTear {
  if (reply?.ends === 'torn') return reply;
  throw new TypeError('replies[0]: expected one that ends "torn"');
}

const noListenerLeft = (scenario: LlmScenario): LlmTest => ({
  scenario,
  title: 'X2 leaves no listener on the signal of a reply that failed',
  run: async ({ llm, request, released, assert }) => {
    const { signal, listeners } = watchedSignal();
    await hear(llm, request, { signal });
    await released();
    assert.equal(listeners(), 0);
  },
});

/** What every refusal is held to. */
const refusedIn = (scenario: LlmScenario): readonly LlmTest[] => [
  {
    scenario,
    title: 'C2.3 C2.4 rejects, or throws at the first read, with an LlmError',
    run: async ({ llm, request, assert }) => {
      const heard = await hear(llm, request);
      assert.deepEqual(heard.events, []);
      llmErrorOf(heard);
    },
  },
  {
    scenario,
    title: 'C2.4 the error has the status, and whether to try again',
    run: async (held) => {
      const error = llmErrorOf(await hear(held.llm, held.request));
      const { httpStatus, retryable } = refusal(held);
      held.assert.deepEqual(
        [error.httpStatus, error.retryable, error.isTimeout],
        [httpStatus, retryable, false],
      );
    },
  },
  {
    scenario,
    title: 'C2.4 the error says what the provider said',
    run: async (held) => {
      const { message } = llmErrorOf(await hear(held.llm, held.request));
      assertTells(held.assert, message);
      held.assert.ok(message.includes(refusal(held).message), message);
    },
  },
  noListenerLeft(scenario),
];

const BUSY: LlmTest = {
  scenario: 'busy',
  title: 'C2.4 answers the same request later',
  run: async (held) => {
    await hear(held.llm, held.request);
    const words = wordsOf(await wholeReply(held));
    held.assert.equal(words, arrangedWords(arranged(held.replies, 1)));
  },
};

const TORN: readonly LlmTest[] = [
  {
    scenario: 'torn',
    title: 'C2.2 fails or is interrupted, and is never done',
    run: async ({ llm, request, assert }) => {
      const { events, failure } = await hear(llm, request);
      const ends = events.filter(isTerminalStreamEvent).map(({ kind }) => kind);
      if (failure !== null) ends.push('failed');
      assert.equal(ends.length, 1, `${kindsOf(events)} ends ${String(ends.length)} times`);
      assert.ok(ends[0] !== 'done', kindsOf(events));
    },
  },
  {
    scenario: 'torn',
    title: 'C2.2 streams no words that were not sent',
    run: async (held) => {
      const words = wordsOf((await hear(held.llm, held.request)).events);
      held.assert.ok(arrangedWords(tear(held)).startsWith(words), JSON.stringify(words));
    },
  },
  {
    scenario: 'torn',
    title: 'C2.4 what it throws is an LlmError, and a failure says why',
    run: async ({ llm, request, assert }) => {
      const heard = await hear(llm, request);
      if (heard.failure !== null) assertTells(assert, llmErrorOf(heard).message);
      for (const event of heard.events) {
        if (event.kind === 'failed') assertTells(assert, event.message);
      }
    },
  },
  noListenerLeft('torn'),
];

/** What an Llm owes its reader when the model fails. */
export const FAILURES: readonly LlmTest[] = [
  ...refusedIn('refused'),
  ...refusedIn('busy'),
  BUSY,
  ...TORN,
];
