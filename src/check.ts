import {
  effectiveOutcome,
  expectThat,
  outcomePhase,
  type AssistantMessageRow,
  type SessionEvent,
  type ToolResultRow,
  type TurnEndRow,
  type TurnOutcomePhase,
} from '@celestea/core';

type Fail = (rule: string, message: string) => never;

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

/** What {@link assertLogValid} is to put up with. */
export interface LogCheckOptions {
  /** Whether the last turn may be without its end: a turn still runs, or its process died. */
  openTurn?: boolean;
}

/**
 * Throws a {@link LogRuleError} when rows that loops wrote break a rule of a turn: a turn
 * inside another or without its one end (L2.4), a repeated turn id (C4.2), rows outside a
 * turn (L2.2), a call without exactly one result in the order of the calls (L4.4), an empty
 * thinking row (L3.2), a completed turn that does not end in a reply (L4.2), words with
 * `calls_follow` and no call after them, or calls after a reply without it (X9), an
 * `abandoned` result with a value or without an error (X17).
 */
export function assertLogValid(
  rows: readonly SessionEvent[],
  options: LogCheckOptions = {},
): void {
  const isList: boolean = Array.isArray(rows);
  expectThat(isList, 'rows', 'an array of session rows', rows);
  const checker = new LogChecker();
  rows.forEach((row, index) => {
    checker.check(row, index);
  });
  if (options.openTurn !== true) checker.checkEnd(rows.length);
}

class LogChecker {
  #turn: { id: string } | null = null;
  readonly #turnIds = new Set<string>();
  #unanswered: string[] = [];
  #answering = false;
  /** A reply was the end of its step; what goes on starts with a user's message. */
  #replied = false;
  #previous: SessionEvent | null = null;

  check(row: SessionEvent, index: number): void {
    const fail: Fail = (rule, message) => {
      throw new LogRuleError(rule, index, message);
    };
    if ((row.type === 'tool_call' || row.type === 'tool_result') && row.parent_id !== undefined) {
      return; // audit only
    }
    if (row.type !== 'turn_start' && this.#turn === null) {
      fail('L2.2', `${row.type} outside a turn`);
    }
    this.#needCalls(row, fail);
    this.#checkRow(row, fail);
    this.#previous = row;
  }

  checkEnd(index: number): void {
    if (this.#turn !== null) {
      throw new LogRuleError('L2.4', index, `${this.#turn.id} has no turn_end`);
    }
  }

  #checkRow(row: SessionEvent, fail: Fail): void {
    switch (row.type) {
      case 'turn_start':
        if (this.#turn !== null) fail('L2.4', `${row.id} starts inside ${this.#turn.id}`);
        if (this.#turnIds.has(row.id)) fail('C4.2', `${row.id} was used before`);
        this.#turnIds.add(row.id);
        this.#turn = { id: row.id };
        this.#replied = false;
        return;
      case 'turn_end': {
        if (row.id !== this.#turn?.id) fail('L2.4', `${row.id} ends inside another turn`);
        this.#needAnswers(fail);
        const phase = phaseOf(row);
        const ended = this.#replied && this.#previous?.type === 'assistant_message';
        if (phase === 'completed' && !ended) fail('L4.2', 'completed without a reply before it');
        this.#turn = null;
        return;
      }
      case 'tool_call':
        if (this.#replied) fail('X9', `${row.id} is called after the reply of its step`);
        if (this.#answering) this.#needAnswers(fail);
        this.#answering = false;
        this.#unanswered.push(row.id);
        return;
      case 'tool_result': {
        this.#answering = true;
        const expected = this.#unanswered.shift();
        if (expected === undefined) fail('L4.4', `${row.id} answers no call`);
        else if (row.id !== expected) fail('L4.4', `${row.id} came where ${expected} is due`);
        checkAbandoned(row, fail);
        return;
      }
      case 'thinking_delta':
        if (row.text === '' && row.meta === undefined) fail('L3.2', 'an empty thinking row');
        this.#needAnswers(fail);
        return;
      case 'user_message':
        this.#needAnswers(fail);
        this.#replied = false;
        return;
      case 'assistant_message':
        this.#needAnswers(fail);
        if (this.#replied) fail('X9', 'a second reply in one step');
        this.#replied = row.calls_follow !== true;
        return;
      default:
        row satisfies never;
    }
  }

  #needAnswers(fail: Fail): void {
    if (this.#unanswered.length > 0) {
      fail('L4.4', `no result for ${this.#unanswered.join(', ')} before the next row`);
    }
  }

  /** Between the words and their calls nothing may stand but the end of a turn that broke off. */
  #needCalls(row: SessionEvent, fail: Fail): void {
    const { type, calls_follow } = (this.#previous ?? {}) as Partial<AssistantMessageRow>;
    if (type !== 'assistant_message' || calls_follow !== true || row.type === 'tool_call') return;
    if (row.type === 'turn_end' && BROKEN_OFF.includes(phaseOf(row))) return;
    fail('X9', `${row.type} where the calls are due`);
  }
}

/** How a turn ends that broke off between its words and their calls: its log or its process died. */
const BROKEN_OFF: readonly TurnOutcomePhase[] = ['error', 'interrupted'];

const phaseOf = ({ outcome }: TurnEndRow): TurnOutcomePhase =>
  outcomePhase(effectiveOutcome(outcome));

/** What was left running has no value, and an error that says so. */
function checkAbandoned({ id, abandoned, value, error }: ToolResultRow, fail: Fail): void {
  if (abandoned === undefined) return;
  if (value !== null) fail('X17', `${id} is abandoned and has a value`);
  if (error === null || error === '') fail('X17', `${id} is abandoned and has no error`);
}
