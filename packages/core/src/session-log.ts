import type { Message } from './message.ts';
import type { SessionEvent } from './session-event.ts';

/**
 * The log seam: the only source of truth of a conversation (C4.2). A throw of any method is
 * a broken seam: the turn ends with an error and rethrows it.
 */
export interface SessionLog {
  /** Keeps insertion order. */
  append(event: SessionEvent): void;
  /** Every row, as a fresh array. */
  events(): SessionEvent[];
  /** What the model is to see, as a fresh array. */
  deriveMessages(): Message[];
  clear(): void;
  /** `turn-0`, `turn-1`, …: the log owns the counter, so ids stay unique across loops. */
  nextTurnId(): string;
  /** Settles when every appended row is durable. Left out, rows are as durable as they get. */
  flush?(): Promise<void>;
}
