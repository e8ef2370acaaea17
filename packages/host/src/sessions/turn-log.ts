import type { Message, SessionEvent, SessionLog } from '@celestea/core';

/**
 * The same log, for a session that has to know the id of a turn before the turn runs, and whether
 * the log holds a turn without an end.
 */
export class TurnLog implements SessionLog {
  readonly #log: SessionLog;
  #reserved: string | null = null;
  #holdsOpenTurn = false;

  constructor(log: SessionLog) {
    this.#log = log;
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
  }

  events(): SessionEvent[] {
    return this.#log.events();
  }

  deriveMessages(): Message[] {
    return this.#log.deriveMessages();
  }

  clear(): void {
    this.#log.clear();
  }

  flush(): Promise<void> {
    return this.#log.flush?.() ?? Promise.resolve();
  }
}
