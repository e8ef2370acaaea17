import {
  describeValue,
  formatInjection,
  type PendingInjection,
  type TurnOutcome,
} from '@celestea/core';

import { unheard } from './cancel.ts';
import type { Turn } from './turn.ts';

/** How often messages that came in may keep a turn going that had its answer (X6). */
export const MAX_STEER_EXTENSIONS = 8;

/** So many messages are taken at a time; a list that does not end would hold the turn for good. */
const MAX_DRAINED = 100_000;

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

  /** One by one: a list that breaks off loses none of what came before. */
  #taken(): readonly PendingInjection[] {
    const taken: PendingInjection[] = [];
    try {
      const items = answered(this.#turn.options.injections?.drain()) ?? [];
      if (typeof items === 'string') throw new TypeError('expected a list of messages, got a text');
      for (const item of items) {
        if (taken.length === MAX_DRAINED) throw new RangeError(`more than ${String(MAX_DRAINED)}`);
        taken.push(item);
      }
    } catch (error) {
      this.#turn.diagnose('injections_failed', 'the injections could not be drained', error);
    }
    return taken;
  }

  #pending(): boolean {
    try {
      return (answered(this.#turn.options.injections?.pending?.()) ?? 0) > 0;
    } catch (error) {
      this.#turn.diagnose('injections_failed', 'the injections could not be counted', error);
      return false;
    }
  }

  #textOf(item: unknown): string | null {
    try {
      const { text, from } = (item as Partial<PendingInjection> | null | undefined) ?? {};
      if (typeof text === 'string') {
        return formatInjection({ text, from: typeof from === 'string' ? from : '' });
      }
    } catch {
      // a getter of the item that throws: it has no text
    }
    const came = describeValue(item);
    this.#turn.diagnose('injections_failed', `an injection without a text was dropped: ${came}`);
    return null;
  }
}

/** What a source said. A promise says nothing: what it holds comes too late to be written. */
function answered<T>(said: T): T {
  if (!(said instanceof Promise)) return said;
  unheard(said);
  throw new TypeError('expected an answer at once, got a promise: what it holds is lost');
}
