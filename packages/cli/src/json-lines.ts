import { loopEventToSse } from '@celestea/agent-loop';
import { serdeJsonString, type LoopEvent, type SseEventName } from '@celestea/core';

import { safeJson } from './safe-text.ts';

/** Where the frames of a turn go, and what their envelopes say. */
export interface JsonLinesOptions {
  readonly write: (text: string) => unknown;
  readonly session: string;
  /** The turn's id, asked for when the first event is there. */
  readonly turn: () => string;
}

/**
 * Writes a turn as JSON lines: one server-sent event in its envelope a line,
 * `{"v":1,"session":…,"turn":…,"seq":0,"event":…,"payload":{…}}`, `seq` counted from 0.
 */
export class JsonLines {
  readonly #options: JsonLinesOptions;
  #turn: string | null = null;
  #seq = 0;

  constructor(options: JsonLinesOptions) {
    this.#options = options;
  }

  /** Writes the line of one event. */
  render(loopEvent: LoopEvent): void {
    const { event, payload } = loopEventToSse(loopEvent);
    this.#frame(event, payload);
  }

  /** Writes the line of a `status` event: what the command is doing, beside the loop. */
  status(phase: string, fields: Readonly<Record<string, unknown>>): void {
    this.#frame('status', { phase, ...fields });
  }

  #frame(event: SseEventName, payload: Record<string, unknown>): void {
    const { write, session } = this.#options;
    this.#turn ??= this.#options.turn();
    const head = JSON.stringify({ v: 1, session, turn: this.#turn, seq: this.#seq, event });
    this.#seq += 1;
    // The payload is what a model and its tools made of it: it may hold what JSON has no word for.
    write(`${safeJson(`${head.slice(0, -1)},"payload":${serdeJsonString(payload)}}`)}\n`);
  }
}
