import { usageAdd, zeroUsage, type Usage } from '@celestea/core';

/** Adds up the tokens that a loop's responses cost (L7.3). */
export class UsageTracker {
  #latest: Usage = zeroUsage();
  #total: Usage = zeroUsage();

  /** Takes the counters of one response; keeps none of the caller's object. */
  record(usage: Usage): void {
    this.#latest = usageAdd(zeroUsage(), usage);
    this.#total = usageAdd(this.#total, usage);
  }

  /** The last response's counters, as a detached copy; all zero before any. */
  latest(): Usage {
    return { ...this.#latest };
  }

  /** The sum over all responses, as a detached copy. */
  total(): Usage {
    return { ...this.#total };
  }
}

/** A tracker with nothing recorded. */
export function createUsageTracker(): UsageTracker {
  return new UsageTracker();
}
