import {
  describeValue,
  expectThat,
  formatInjection,
  type PendingInjection,
  type TurnOutcome,
} from '@celestea/core';

import { unheard } from './cancel.ts';
import { requireArray } from './seams.ts';
import type { Turn } from './turn.ts';

/** How often messages that came in may keep a turn going that had its answer (X6). */
export const MAX_STEER_EXTENSIONS = 8;

/** Brings messages that come in while a turn runs into its log (X6). */
export class Steering {
  readonly #turn: Turn;
  #extensions = 0;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /**
   * Writes the messages that wait, one row each, and says how many. What the source handed
   * over is written, whatever becomes of the turn.
   */
  drain(): number {
    let written = 0;
    const faults: unknown[] = [];
    for (const item of this.#taken()) {
      const text = this.#textOf(item);
      if (text === null) continue;
      try {
        this.#turn.append({ type: 'user_message', text });
        written += 1;
      } catch (error) {
        faults.push(error); // the others are still written where the log takes them
      }
    }
    if (faults.length > 0) throw faults[0];
    return written;
  }

  /** Whether a step's end is not the turn's: it completed, and messages wait for it. */
  extends(outcome: TurnOutcome | null): boolean {
    if (outcome !== 'completed' || this.#extensions >= MAX_STEER_EXTENSIONS) return false;
    if (!this.#pending()) return false;
    this.#extensions += 1;
    return true;
  }

  #taken(): readonly PendingInjection[] {
    try {
      const { injections } = this.#turn.options;
      return requireArray('drain of the injections', injections?.drain() ?? []);
    } catch (error) {
      this.#turn.diagnose('injections_failed', 'the injections could not be drained', error);
      return [];
    }
  }

  #pending(): boolean {
    try {
      const waiting = this.#turn.options.injections?.pending?.() ?? 0;
      unheard(waiting);
      const isPromise = (waiting as unknown) instanceof Promise;
      expectThat(!isPromise, 'pending of the injections', 'a number', waiting);
      return waiting > 0;
    } catch (error) {
      this.#turn.diagnose('injections_failed', 'the injections could not be counted', error);
      return false;
    }
  }

  #textOf(item: unknown): string | null {
    const { text, from } = (item as Partial<PendingInjection> | null | undefined) ?? {};
    if (typeof text === 'string') {
      return formatInjection({ text, from: typeof from === 'string' ? from : '' });
    }
    const came = describeValue(item);
    this.#turn.diagnose('injections_failed', `an injection without a text was dropped: ${came}`);
    return null;
  }
}
