import { llmContract } from '@celestea/core/contracts';
import { assert, describe, test } from 'vitest';

import { modelUnderTest } from './support/contract-model.ts';
import { OPENAI_MODEL, REASONING_OPENAI_MODEL } from './support/contract-models.ts';

describe('OpenAI chat completions', () => {
  llmContract((_, replies) => modelUnderTest(OPENAI_MODEL, replies), { test, assert });
});

describe('OpenAI chat completions, of a server that wants its reasoning back', () => {
  const make = (_: unknown, replies: Parameters<typeof modelUnderTest>[1]) =>
    modelUnderTest(REASONING_OPENAI_MODEL, replies);
  llmContract(make, { test, assert }, ['words', 'calls', 'signed']);
});
