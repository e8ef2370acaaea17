import { llmContract } from '@celestea/core/contracts';
import { assert, test } from 'vitest';

import { modelUnderTest } from './support/contract-model.ts';
import { ANTHROPIC_MODEL } from './support/contract-models.ts';

llmContract((_, replies) => modelUnderTest(ANTHROPIC_MODEL, replies), { test, assert });
