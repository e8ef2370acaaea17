import { effectiveOutcome, outcomePhase, type SessionEvent } from '@celestea/core';

/** A log that breaks a rule. */
export class LogRuleError extends Error {
  override readonly name = 'LogRuleError';
  /** The id of the rule, such as `L4.4`. */
  readonly rule: string;
  /** The row that breaks it, counted from 0; the number of rows when the end does. */
  readonly index: number;

  constructor(rule: string, index: number, message: string) {
    super(`${rule}, row ${String(index)}: ${message}`);
    this.rule = rule;
    this.index = index;
  }
}

export interface LogCheckOptions {
  /** Whether the last turn may be without its end: a turn still runs, or its process died. */
  openTurn?: boolean;
}

/**
 * Throws a {@link LogRuleError} when rows that loops wrote break a rule of a turn: a turn
 * inside another or without its one end (L2.4), a repeated turn id (C4.2), rows outside a
 * turn (L2.2), a call without exactly one result in the order of the calls (L4.4), an empty
 * thinking row (L3.2), a completed turn that does not end in a reply (L4.2).
 */
export function assertLogValid(
  rows: readonly SessionEvent[],
  options: LogCheckOptions = {},
): void {
  const checker = new LogChecker();
  rows.forEach((row, index) => {
    checker.check(row, index);
  });
  if (options.openTurn !== true) checker.checkEnd(rows.length);
}

class LogChecker {
  #turn: { id: string; rows: number } | null = null;
  readonly #turnIds = new Set<string>();
  #unanswered: string[] = [];
  #answering = false;
  #previous: SessionEvent | null = null;

  check(row: SessionEvent, index: number): void {
    const fail = (rule: string, message: string): never => {
      throw new LogRuleError(rule, index, message);
    };
    if ((row.type === 'tool_call' || row.type === 'tool_result') && row.parent_id !== undefined) {
      return; // audit only
    }
    if (row.type !== 'turn_start' && this.#turn === null) {
      fail('L2.2', `${row.type} outside a turn`);
    }
    this.#checkRow(row, fail);
    this.#previous = row;
  }

  checkEnd(index: number): void {
    if (this.#turn !== null) {
      throw new LogRuleError('L2.4', index, `${this.#turn.id} has no turn_end`);
    }
  }

  #checkRow(row: SessionEvent, fail: (rule: string, message: string) => never): void {
    switch (row.type) {
      case 'turn_start':
        if (this.#turn !== null) fail('L2.4', `${row.id} starts inside ${this.#turn.id}`);
        if (this.#turnIds.has(row.id)) fail('C4.2', `${row.id} was used before`);
        this.#turnIds.add(row.id);
        this.#turn = { id: row.id, rows: 0 };
        return;
      case 'turn_end': {
        if (row.id !== this.#turn?.id) fail('L2.4', `${row.id} ends inside another turn`);
        this.#needAnswers(fail);
        const phase = outcomePhase(effectiveOutcome(row.outcome));
        const replied = this.#previous?.type === 'assistant_message';
        if (phase === 'completed' && !replied) fail('L4.2', 'completed without a reply before it');
        this.#turn = null;
        return;
      }
      case 'tool_call':
        if (this.#answering) this.#needAnswers(fail);
        this.#answering = false;
        this.#unanswered.push(row.id);
        return;
      case 'tool_result': {
        this.#answering = true;
        const expected = this.#unanswered.shift();
        if (expected === undefined) fail('L4.4', `${row.id} answers no call`);
        else if (row.id !== expected) fail('L4.4', `${row.id} came where ${expected} is due`);
        return;
      }
      case 'thinking_delta':
        if (row.text === '') fail('L3.2', 'an empty thinking row');
        this.#needAnswers(fail);
        return;
      case 'user_message':
      case 'assistant_message':
        this.#needAnswers(fail);
        return;
      default:
        row satisfies never;
    }
  }

  #needAnswers(fail: (rule: string, message: string) => never): void {
    if (this.#unanswered.length > 0) {
      fail('L4.4', `no result for ${this.#unanswered.join(', ')} before the next row`);
    }
  }
}
