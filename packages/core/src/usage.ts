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

const COUNTERS = Object.keys(zeroUsage()) as (keyof Usage)[];

/** Whether every counter is zero. */
export function usageIsEmpty(usage: Usage): boolean {
  return COUNTERS.every((name) => usage[name] === 0);
}

/** The sum, as a new value. */
export function usageAdd(a: Usage, b: Usage): Usage {
  const sum = zeroUsage();
  for (const name of COUNTERS) sum[name] = a[name] + b[name];
  return sum;
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
