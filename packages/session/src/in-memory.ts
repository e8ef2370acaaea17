import {
  definePlugin,
  formatTurnId,
  IncrementalProjection,
  nextTurnNumber,
  SESSION_LOG_SERVICE,
  type Message,
  type Plugin,
  type SessionEvent,
  type SessionLog,
} from '@celestea/core';

/**
 * A log that lives as long as its process. What the model sees is kept up to date row by
 * row (C4.7), so a long conversation costs no more to continue than a short one.
 */
export class InMemorySessionLog implements SessionLog {
  #rows: SessionEvent[] = [];
  #projection = new IncrementalProjection();
  #nextTurn = 0;

  /** Starts with `rows`, when given: the turn counter goes on after their largest id (C4.2). */
  constructor(rows: Iterable<SessionEvent> = []) {
    for (const row of rows) this.append(row);
    this.#nextTurn = nextTurnNumber(this.#rows);
  }

  append(event: SessionEvent): void {
    this.#rows.push(event);
    this.#projection.append(event);
  }

  events(): SessionEvent[] {
    return this.#rows.slice();
  }

  deriveMessages(): Message[] {
    return this.#projection.messages();
  }

  /** Forgets every row. Turn ids go on, so that none is ever given twice. */
  clear(): void {
    this.#rows = [];
    this.#projection = new IncrementalProjection();
  }

  nextTurnId(): string {
    const id = formatTurnId(this.#nextTurn);
    this.#nextTurn += 1;
    return id;
  }
}

/** Provides one new log, or the one given, under `SESSION_LOG_SERVICE`. */
export function inMemorySessionLogPlugin(
  log: InMemorySessionLog = new InMemorySessionLog(),
): Plugin {
  return definePlugin('celestea.session.InMemorySessionLog', (ctx) => {
    ctx.provide(SESSION_LOG_SERVICE, log);
  });
}
