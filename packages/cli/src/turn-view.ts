import {
  errorMessage,
  loopEventToSse,
  type Diagnostic,
  type DiagnosticKind,
  type EventSink,
} from '@celestea/agent-loop';
import { serdeJsonString, type LoopEvent, type SseEventName } from '@celestea/core';

import { remark } from './exit.ts';
import type { CliIo } from './io.ts';
import type { TurnRenderer } from './render.ts';
import { safeJson } from './text.ts';

/** What is told of a turn beside its events. */
export interface TurnNote {
  /** What it is about, as the phase of a `status` event. */
  readonly phase: 'diagnostic' | 'retry' | 'fallback' | 'answer' | 'advice' | 'timeout';
  /** For programs. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** For people; `null` when it is of no use to them. */
  readonly line: string | null;
}

/** How somebody follows a turn. */
export interface TurnView {
  readonly sink: EventSink;
  readonly tell: (note: TurnNote) => void;
}

/** Of no use to people: the closing line tells of the one, and the other changes nothing. */
const NOT_SHOWN: readonly DiagnosticKind[] = ['model_failed', 'call_id_replaced'];

/** A fault that the turn goes on from. */
export function diagnosticNote({ kind, message: what, error }: Diagnostic): TurnNote {
  const message = error === undefined ? what : `${what}: ${errorMessage(error)}`;
  const line = NOT_SHOWN.includes(kind) ? null : `diagnostic ${kind}: ${message}`;
  return { phase: 'diagnostic', fields: { kind, message }, line };
}

/** A turn as people follow it: on stdout, what is told beside it on stderr. */
export function linesView(
  { stdout, stderr, env }: Pick<CliIo, 'stdout' | 'stderr' | 'env'>,
  renderer: TurnRenderer,
): TurnView {
  const isShared = stdout.isTTY === true && stderr.isTTY === true;
  return {
    sink: (event) => {
      renderer.render(event);
    },
    tell: ({ phase, line }) => {
      if (line === null) return;
      if (phase === 'timeout') {
        renderer.explainCancel(line);
        return;
      }
      if (isShared) renderer.freshLine();
      remark({ stderr, env }, line);
    },
  };
}

/**
 * A turn as programs follow it: a frame a line. `turn` gives the turn's id, asked for once, with
 * the first frame.
 */
export function framesView({ stdout }: Pick<CliIo, 'stdout'>, turn: () => string): TurnView {
  const writer = new JsonLines({ write: (text) => stdout.write(text), session: 'cli', turn });
  return {
    sink: (event) => {
      writer.render(event);
    },
    tell: ({ phase, fields }) => {
      writer.status(phase, fields);
    },
  };
}

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
