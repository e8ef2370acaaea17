import { createUsageTracker, type UsageTracker } from '@celestea/agent-loop';
import type { Llm, ModelRequest } from '@celestea/core';

import { countTokens } from './context-report.ts';

/** Measures a running turn from between the loop and its model. */
export class TurnMeter {
  /** To be bound to the turn. */
  readonly usage: UsageTracker = createUsageTracker();
  readonly #now: () => number;
  #steps = 0;
  #deltas = 0;
  /** When the deltas were last counted from. */
  #since: number;
  #request: ModelRequest | null = null;
  #requestTokens: number | null = null;

  /** `now` gives milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
  }

  /** Requests made to the model. */
  get steps(): number {
    return this.#steps;
  }

  /** Tokens of the last request, an estimate; 0 before there was one. */
  get contextTokens(): number {
    if (this.#request === null) return 0;
    this.#requestTokens ??= countTokens(this.#request).total;
    return this.#requestTokens;
  }

  /** The same model, its requests counted. */
  watch(llm: Llm): Llm {
    return {
      generate: (request, options) => {
        this.#steps += 1;
        this.#request = request;
        this.#requestTokens = null;
        return llm.generate(request, options);
      },
    };
  }

  countDelta(): void {
    this.#deltas += 1;
  }

  /** Deltas a second since this was last asked, to a tenth. */
  takeRate(): number {
    const now = this.#now();
    const milliseconds = now - this.#since;
    const rate = milliseconds > 0 ? (this.#deltas * 1000) / milliseconds : 0;
    this.#since = now;
    this.#deltas = 0;
    return Math.round(rate * 10) / 10;
  }
}
