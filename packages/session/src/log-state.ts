import { parseTurnNumber, type SessionEvent, type TurnEndRow } from '@celestea/core';

/** What has to be known of a log beside its messages: turns and calls that are open. */
export class LogState {
  /** Rows seen. */
  rows = 0;
  /** One more than the largest turn number (C4.2). */
  nextTurn = 0;
  /** The turn that has started and not ended. */
  openTurn: string | null = null;
  #unanswered: string[] = [];
  /** The turns that ended, and where the rows of each end. Two lists: a map takes ten times as long. */
  readonly #ended: string[] = [];
  readonly #ends: number[] = [];

  /** Where the rows of a turn end, in bytes; `undefined` when it has not ended. */
  turnEnd(id: string): number | undefined {
    return this.#ends[this.#ended.lastIndexOf(id)];
  }

  /** `end` is where the row ends in its file, in bytes. */
  add(row: SessionEvent, end: number): void {
    this.rows += 1;
    switch (row.type) {
      case 'turn_start':
        this.#count(row.id);
        this.openTurn = row.id;
        this.#unanswered = [];
        return;
      case 'turn_end':
        if (row.id !== this.openTurn) this.#count(row.id);
        this.openTurn = null;
        this.#unanswered = [];
        this.#ended.push(row.id);
        this.#ends.push(end);
        return;
      case 'tool_call':
        if (row.parent_id === undefined) this.#unanswered.push(row.id);
        return;
      case 'tool_result': {
        const index = row.parent_id === undefined ? this.#unanswered.indexOf(row.id) : -1;
        if (index >= 0) this.#unanswered.splice(index, 1);
        return;
      }
      default:
    }
  }

  /**
   * The rows that end a turn whose process died: an answer for each call without one, then
   * `turn_end`. Whether such a call had started nobody can say, so it counts as abandoned.
   */
  closingRows(): SessionEvent[] {
    if (this.openTurn === null) return [];
    const end: TurnEndRow = { type: 'turn_end', id: this.openTurn, outcome: 'interrupted' };
    const answers = this.#unanswered.map(
      (id): SessionEvent => ({
        type: 'tool_result',
        id,
        value: null,
        error: INTERRUPTED_CALL,
        abandoned: true,
      }),
    );
    return [...answers, end];
  }

  #count(id: string): void {
    const n = parseTurnNumber(id);
    if (n !== null && n >= this.nextTurn) this.nextTurn = n + 1;
  }
}

/** The error of a call whose process died before its result was written. */
const INTERRUPTED_CALL = 'the process ended before this call gave a result';
