import type { Message, SessionEvent, SessionLog } from '@celestea/core';

/** The same log, which also knows its last turn: to ask its rows would be to read them all. */
export class TurnLog implements SessionLog {
  readonly #log: SessionLog;
  #lastTurn = '';

  constructor(log: SessionLog) {
    this.#log = log;
  }

  /** The id that was given last; empty before the first one. */
  lastTurnId(): string {
    return this.#lastTurn;
  }

  nextTurnId(): string {
    this.#lastTurn = this.#log.nextTurnId();
    return this.#lastTurn;
  }

  append(event: SessionEvent): void {
    this.#log.append(event);
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
