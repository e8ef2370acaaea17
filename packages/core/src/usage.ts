/** Tokens as a provider counts them; they decide what is billed. */
export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  /** The part of `prompt_tokens` that the provider's cache answered. */
  cache_read: number;
  /** The part of `completion_tokens` spent on reasoning. */
  reasoning_tokens: number;
}

/** All counters zero. */
export function zeroUsage(): Usage {
  return {
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    cache_read: 0,
    reasoning_tokens: 0,
  };
}

/** Whether every counter is zero. */
export function usageIsEmpty(usage: Usage): boolean {
  return (
    usage.prompt_tokens === 0 &&
    usage.completion_tokens === 0 &&
    usage.total_tokens === 0 &&
    usage.cache_read === 0 &&
    usage.reasoning_tokens === 0
  );
}

/** The sum, as a new value. */
export function usageAdd(a: Usage, b: Usage): Usage {
  return {
    prompt_tokens: a.prompt_tokens + b.prompt_tokens,
    completion_tokens: a.completion_tokens + b.completion_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
    cache_read: a.cache_read + b.cache_read,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
  };
}

/** The sum of a list; all zero when it is empty. */
export function usageSum(list: Iterable<Usage>): Usage {
  let sum = zeroUsage();
  for (const usage of list) sum = usageAdd(sum, usage);
  return sum;
}

/** `cache_read / prompt_tokens`; 0 when there was no prompt. */
export function cacheHitRatio(usage: Usage): number {
  return usage.prompt_tokens > 0 ? usage.cache_read / usage.prompt_tokens : 0;
}
