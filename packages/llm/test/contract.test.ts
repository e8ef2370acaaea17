import { LlmError, type Llm } from '@celestea/core';
import { llmContract, type LlmContractReply, type LlmUnderTest } from '@celestea/core/contracts';
import { assert, describe, test } from 'vitest';

import { withFallback, withRetry } from '../src/index.ts';
import { modelUnderTest, UNWRAPPED, type Wrapping } from './support/contract-model.ts';
import {
  ANTHROPIC_MODEL,
  GEMINI_MODEL,
  OPENAI_MODEL,
  REASONING_OPENAI_MODEL,
} from './support/contract-models.ts';
import { scriptedUnderTest } from './support/contract-v3.ts';

const RETRIES = 2;

/** Whether `withRetry` may ask again; a tear too, when its words were lost with the connection. */
const isRetried = (reply: LlmContractReply): boolean =>
  reply.ends === 'torn' || (reply.ends === 'refused' && reply.retryable);

const retried: Wrapping = {
  wrap: (llm) => withRetry(llm, { retries: RETRIES, baseDelayMs: 0 }),
  sent: (replies) =>
    replies.flatMap((reply) =>
      isRetried(reply) ? Array.from({ length: RETRIES + 1 }, () => reply) : [reply],
    ),
};

const down: Llm = {
  generate: () =>
    Promise.reject(new LlmError('out of order', 'generate', { httpStatus: 503, retryable: true })),
};

const fallenBackOn: Wrapping = {
  wrap: (llm) =>
    withFallback([
      { name: 'down', llm: down },
      { name: 'up', llm },
    ]),
  sent: (replies) => replies,
};

type Make = (
  replies: readonly LlmContractReply[],
  wrapping: Wrapping,
) => LlmUnderTest | Promise<LlmUnderTest>;

const MODELS: Readonly<Record<string, Make>> = {
  'OpenAI chat completions': (...given) => modelUnderTest(OPENAI_MODEL, ...given),
  'Anthropic messages': (...given) => modelUnderTest(ANTHROPIC_MODEL, ...given),
  Gemini: (...given) => modelUnderTest(GEMINI_MODEL, ...given),
  'a scripted LanguageModelV3': (...given) => scriptedUnderTest(...given),
};

describe('OpenAI chat completions, of a server that wants its reasoning back', () => {
  llmContract((_, replies) => modelUnderTest(REASONING_OPENAI_MODEL, replies), { test, assert }, [
    'words',
    'calls',
    'signed',
  ]);
});

describe.each(Object.entries(MODELS))('%s', (_title, make) => {
  describe('by itself', () => {
    llmContract((_, replies) => make(replies, UNWRAPPED), { test, assert });
  });

  describe('through withRetry', () => {
    llmContract((_, replies) => make(replies, retried), { test, assert });
  });

  describe('through withFallback, the first model down', () => {
    llmContract((_, replies) => make(replies, fallenBackOn), { test, assert });
  });
});
