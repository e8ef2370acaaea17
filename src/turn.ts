import {
  usageAdd,
  zeroUsage,
  type AgentConfig,
  type LoopEvent,
  type SessionEvent,
  type Usage,
} from '@celestea/core';

import { Breather } from './breather.ts';
import { CallIds } from './call-ids.ts';
import { ignore, unheard, type Cancellation } from './cancel.ts';
import type { DiagnosticKind } from './diagnostics.ts';
import type { ResolvedOptions } from './options.ts';
import type { Seams } from './seams.ts';

/** One running turn: what its steps share, and the only way they write and tell. */
export class Turn {
  readonly id: string;
  readonly config: AgentConfig;
  readonly seams: Seams;
  readonly options: ResolvedOptions;
  /** The turn's own: comes when the turn is cancelled, and never after it ended well (X2). */
  readonly cancellation: Cancellation;
  readonly breather: Breather = new Breather();
  /** Keeps the calls of this log apart (X11). */
  readonly callIds: CallIds;
  #used = zeroUsage();
  /** Why a row was not taken, said after its `append` had returned. */
  #lost: { readonly error: unknown } | null = null;
  /** Whether an `append` gave something back, such as a promise. */
  #isSlow = false;

  constructor(
    id: string,
    config: AgentConfig,
    seams: Seams,
    options: ResolvedOptions,
    cancellation: Cancellation,
  ) {
    this.id = id;
    this.callIds = new CallIds(id);
    this.config = config;
    this.seams = seams;
    this.options = options;
    this.cancellation = cancellation;
  }

  /** Read anew each time: a tool, a sink or a model may cancel the turn from inside. */
  get cancelled(): boolean {
    return this.cancellation.aborted;
  }

  /** What this turn's responses cost so far. */
  get used(): Usage {
    return { ...this.#used };
  }

  addUsage(usage: Usage): void {
    this.#used = usageAdd(this.#used, usage);
    const record = (counters: Usage): unknown => this.options.usage?.record(counters);
    callHook(record, usage, (error) => {
      this.diagnose('usage_failed', 'the usage tracker threw', error);
    });
  }

  /**
   * Throws what the log throws: a broken seam. One whose `append` is async breaks when the next
   * {@link flush} finds that a row was not taken.
   */
  append(row: SessionEvent): void {
    // of those who have no types it may give anything
    const log: { append(row: SessionEvent): unknown } = this.seams.log;
    const returned = log.append(row);
    if (returned === undefined) return;
    this.#isSlow = true;
    unheard(returned, this.#onLostRow);
  }

  /** Writes a row, then tells of it (L7.2). */
  record(row: SessionEvent, event: LoopEvent): void {
    this.append(row);
    this.emit(event);
  }

  /** Whether rows may wait to be durable: those of a log that takes them at once do not. */
  get flushes(): boolean {
    return this.#isSlow || this.seams.log.flush !== undefined;
  }

  /** Waits until every row is durable; a cancel does not skip it. Throws what the log throws (X4). */
  async flush(): Promise<void> {
    await this.seams.log.flush?.();
    if (this.#isSlow) await this.breather.rest(); // a promise that fails by itself has done so then
    if (this.#lost !== null) throw this.#lost.error;
  }

  /** Tells the sinks. One that throws or rejects does not disturb the turn (X15). */
  emit(event: LoopEvent): void {
    for (const sink of this.options.sinks) callHook(sink, event, this.#onSinkFault);
  }

  /** Reports a fault that the turn goes on from; whoever listens cannot disturb it (X15). */
  diagnose(kind: DiagnosticKind, message: string, error?: unknown): void {
    const { onDiagnostic } = this.options;
    if (onDiagnostic === undefined) return;
    const diagnostic = error === undefined ? { kind, message } : { kind, message, error };
    callHook(onDiagnostic, diagnostic, ignore); // a fault of the listener has nowhere to go
  }

  readonly #onLostRow = (error: unknown): void => {
    this.#lost ??= { error };
  };

  readonly #onSinkFault = (error: unknown, { kind }: LoopEvent): void => {
    this.diagnose('sink_failed', `the sink failed on ${kind}`, error);
  };
}

/** Calls a caller's hook; what it throws, or rejects with where it is async, goes to `onFault`. */
function callHook<T>(
  hook: (value: T) => unknown,
  value: T,
  onFault: (error: unknown, value: T) => void,
): void {
  try {
    const returned = hook(value);
    if (!(returned instanceof Promise)) return;
    returned.catch((error: unknown) => {
      onFault(error, value);
    });
  } catch (error) {
    onFault(error, value);
  }
}
