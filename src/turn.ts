import type { AgentConfig, LoopEvent, SessionEvent } from '@celestea/core';

import { ignore } from './cancel.ts';
import type { EventSink } from './events.ts';
import type { Seams } from './seams.ts';
import type { UsageTracker } from './usage.ts';

/** What a turn is made of. */
export interface TurnParts {
  readonly id: string;
  readonly config: AgentConfig;
  readonly seams: Seams;
  readonly signal: AbortSignal;
  readonly sink: EventSink | undefined;
  readonly usage: UsageTracker | undefined;
}

/** One running turn: what its steps share, and the only way they write and tell. */
export class Turn {
  readonly id: string;
  readonly config: AgentConfig;
  readonly seams: Seams;
  /** The turn's own: aborts when the turn is cancelled, and never after it ended well. */
  readonly signal: AbortSignal;
  readonly usage: UsageTracker | undefined;
  readonly #sink: EventSink | undefined;

  constructor(parts: TurnParts) {
    this.id = parts.id;
    this.config = parts.config;
    this.seams = parts.seams;
    this.signal = parts.signal;
    this.usage = parts.usage;
    this.#sink = parts.sink;
  }

  /** Read anew each time: a tool, a sink or a model may cancel the turn from inside. */
  get cancelled(): boolean {
    return this.signal.aborted;
  }

  /** Throws what the log throws: a broken seam. */
  append(row: SessionEvent): void {
    this.seams.log.append(row);
  }

  /** Writes a row, then tells of it (L7.2). */
  record(row: SessionEvent, event: LoopEvent): void {
    this.append(row);
    this.emit(event);
  }

  /** Tells the sink. A sink that throws or rejects does not disturb the turn. */
  emit(event: LoopEvent): void {
    try {
      const returned: unknown = this.#sink?.(event);
      if (returned !== undefined) void Promise.resolve(returned).catch(ignore);
    } catch {
      // the log is complete; who watches it has no say in the turn
    }
  }
}
