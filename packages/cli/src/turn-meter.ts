import { createUsageTracker, type UsageTracker } from '@celestea/agent-loop';
import type { Llm, ToolRegistry, Usage } from '@celestea/core';

/** What a turn took so far. */
export interface TurnTotals {
  /** Requests made to the model. */
  readonly steps: number;
  readonly usage: Usage;
  readonly milliseconds: number;
}

/** What a renderer asks about a turn. */
export type TurnFigures = Pick<TurnMeter, 'totals' | 'callMilliseconds'>;

interface CallTime {
  readonly start: number;
  end: number | null;
}

/**
 * Measures a turn from between the loop and its seams. Results are told batch by batch, so
 * only here can the time of one call be told from that of its slowest sibling.
 */
export class TurnMeter {
  /** Bind it to the loop. */
  readonly usage: UsageTracker = createUsageTracker();
  readonly #now: () => number;
  readonly #start: number;
  #steps = 0;
  readonly #calls = new WaitingCalls<CallTime>();

  /** The turn starts now. */
  constructor(now: () => number) {
    this.#now = now;
    this.#start = now();
  }

  /** The same model, its requests counted. */
  countSteps(llm: Llm): Llm {
    return {
      generate: (request, options) => {
        this.#steps += 1;
        return llm.generate(request, options);
      },
    };
  }

  /** The same registry, its calls timed. */
  timeCalls(registry: ToolRegistry): ToolRegistry {
    return {
      register: (tool) => {
        registry.register(tool);
      },
      addGuard: (guard) => {
        registry.addGuard(guard);
      },
      get: (name) => registry.get(name),
      schemas: () => registry.schemas(),
      dispatch: async (input, options) => {
        const time: CallTime = { start: this.#now(), end: null };
        this.#calls.add(input.call_id, time);
        try {
          return await registry.dispatch(input, options);
        } finally {
          time.end = this.#now();
        }
      },
    };
  }

  totals(): TurnTotals {
    return {
      steps: this.#steps,
      usage: this.usage.total(),
      milliseconds: this.#now() - this.#start,
    };
  }

  /**
   * Milliseconds a call ran, up to now when it still runs; `null` when it never started.
   * Asked once a result, in the order of the calls.
   */
  callMilliseconds(callId: string): number | null {
    const time = this.#calls.take(callId);
    return time === undefined ? null : (time.end ?? this.#now()) - time.start;
  }
}

/** What is known of calls whose result is not there, oldest first: two may have the same id. */
export class WaitingCalls<Known> {
  readonly #lists = new Map<string, Known[]>();

  add(id: string, known: Known): void {
    const list = this.#lists.get(id);
    if (list === undefined) this.#lists.set(id, [known]);
    else list.push(known);
  }

  /** The oldest with this id, which waits no longer. */
  take(id: string): Known | undefined {
    return this.#lists.get(id)?.shift();
  }
}
