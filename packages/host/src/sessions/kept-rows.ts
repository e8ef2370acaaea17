import { parseSessionEvent, serializeSessionEvent, type SessionEvent } from '@celestea/core';

/**
 * The rows of a log that is written here: read from the disk when they are first asked for, and
 * kept up from then on.
 */
export class KeptRows {
  readonly #read: () => SessionEvent[];
  #rows: SessionEvent[] | null = null;

  /** `read` gives every row there is. */
  constructor(read: () => SessionEvent[]) {
    this.#read = read;
  }

  /** To be told of every row right after it was written. */
  onRow(row: SessionEvent): void {
    if (this.#rows === null) return;
    // as it would be read: whoever gave the row may change what is in it
    const read = parseSessionEvent(serializeSessionEvent(row));
    if (read.ok) this.#rows.push(read.event);
    else this.forget();
  }

  /** Every row, to be read only. Throws what reading throws. */
  all(): readonly SessionEvent[] {
    this.#rows ??= this.#read();
    return this.#rows;
  }

  /** Reads anew when it is asked next. */
  forget(): void {
    this.#rows = null;
  }
}
