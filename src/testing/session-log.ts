import {
  deriveMessagesFrom,
  formatTurnId,
  isRecord,
  nextTurnNumber,
  type Message,
  type SessionEvent,
  type SessionLog,
} from '@celestea/core';

import { requireThat } from './require.ts';

/** Hooks into a {@link FakeSessionLog}; what one throws, the log throws. */
export interface FakeSessionLogOptions {
  /** Rows that are there already. */
  rows?: readonly SessionEvent[];
  /** Called before a row is kept; `index` is its place in the log. */
  onAppend?: (row: SessionEvent, index: number) => void;
  /** Called before messages are derived. */
  onDerive?: () => void;
  /** Gives the log a `flush`. */
  onFlush?: () => unknown;
}

/** A log in memory that can be made to fail at any row. It projects anew at each call. */
export class FakeSessionLog implements SessionLog {
  readonly rows: SessionEvent[];
  readonly flush?: () => Promise<void>;
  readonly #options: FakeSessionLogOptions;
  #nextTurn: number;

  /** Throws a `TypeError` when the rows are no array or a hook is no function. */
  constructor(options: FakeSessionLogOptions = {}) {
    requireThat(isRecord(options), 'options: expected an object such as { rows: […] }', options);
    const rows: unknown = options.rows ?? [];
    requireThat(Array.isArray(rows), 'rows: expected an array of session rows', rows);
    for (const name of ['onAppend', 'onDerive', 'onFlush'] as const) {
      const hook: unknown = options[name];
      const fits = hook === undefined || typeof hook === 'function';
      requireThat(fits, `${name}: expected a function`, hook);
    }
    this.rows = [...(options.rows ?? [])];
    this.#options = options;
    this.#nextTurn = nextTurnNumber(this.rows);
    const { onFlush } = options;
    if (onFlush !== undefined) {
      this.flush = async () => {
        await onFlush();
      };
    }
  }

  append(row: SessionEvent): void {
    this.#options.onAppend?.(row, this.rows.length);
    this.rows.push(row);
  }

  events(): SessionEvent[] {
    return [...this.rows];
  }

  deriveMessages(): Message[] {
    this.#options.onDerive?.();
    return deriveMessagesFrom(this.rows);
  }

  /** Forgets all rows; turn ids count on. */
  clear(): void {
    this.rows.length = 0;
  }

  nextTurnId(): string {
    const id = formatTurnId(this.#nextTurn);
    this.#nextTurn += 1;
    return id;
  }
}
