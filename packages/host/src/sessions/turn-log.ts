import {
  parseSessionEvent,
  serializeSessionEvent,
  type Message,
  type SessionEvent,
  type SessionLog,
} from '@celestea/core';

/**
 * The same log, for a session that has to know the id of a turn before the turn runs, whether
 * the log holds a turn without an end, and which rows there are.
 */
export class TurnLog implements SessionLog {
  readonly #log: SessionLog;
  readonly #onRow: (row: SessionEvent) => void;
  /** `null` until somebody asks: to read the disk each time takes a tenth of a second a megabyte. */
  #rows: SessionEvent[] | null = null;
  #reserved: string | null = null;
  #holdsOpenTurn = false;

  /** `onRow` is told of every row right after it was written. */
  constructor(log: SessionLog, onRow: (row: SessionEvent) => void) {
    this.#log = log;
    this.#onRow = onRow;
  }

  /** Every row, to be read only; the disk is read once. Throws what the log throws. */
  get rows(): readonly SessionEvent[] {
    this.#rows ??= this.#log.events();
    return this.#rows;
  }

  /** Whether a turn was begun in here and its end was not written. */
  get holdsOpenTurn(): boolean {
    return this.#holdsOpenTurn;
  }

  /** Gives the id that the next turn will have. Throws what the log throws. */
  reserveTurnId(): string {
    this.#reserved ??= this.#log.nextTurnId();
    return this.#reserved;
  }

  nextTurnId(): string {
    const id = this.reserveTurnId();
    this.#reserved = null;
    return id;
  }

  append(event: SessionEvent): void {
    this.#log.append(event);
    if (event.type === 'turn_start') this.#holdsOpenTurn = true;
    if (event.type === 'turn_end') this.#holdsOpenTurn = false;
    this.#keep(event);
    this.#onRow(event);
  }

  events(): SessionEvent[] {
    return this.#log.events();
  }

  deriveMessages(): Message[] {
    return this.#log.deriveMessages();
  }

  clear(): void {
    this.#log.clear();
    this.#rows = null;
  }

  flush(): Promise<void> {
    return this.#log.flush?.() ?? Promise.resolve();
  }

  /** As it would be read: whoever gave the row may change what is in it. */
  #keep(row: SessionEvent): void {
    if (this.#rows === null) return;
    const read = parseSessionEvent(serializeSessionEvent(row));
    if (read.ok) this.#rows.push(read.event);
    else this.#rows = null;
  }
}
