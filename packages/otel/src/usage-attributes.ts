import type { Usage } from '@celestea/core';
import type { Attributes } from '@opentelemetry/api';

import {
  ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
  ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS,
} from './names.ts';

/** Tokens by the conventions; none where nothing was told of them. */
export function usageAttributes(usage: Usage | null): Attributes {
  if (usage === null) return {};
  return {
    [ATTR_GEN_AI_USAGE_INPUT_TOKENS]: usage.prompt_tokens,
    [ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: usage.completion_tokens,
    [ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS]: usage.cache_read,
    [ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS]: usage.reasoning_tokens,
  };
}
