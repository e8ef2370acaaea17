import { llmContract } from '@celestea/core/contracts';
import { assert, test } from 'vitest';

import { modelUnderTest } from './support/contract-model.ts';
import { GEMINI_MODEL } from './support/contract-models.ts';

llmContract((_, replies) => modelUnderTest(GEMINI_MODEL, replies), { test, assert });
