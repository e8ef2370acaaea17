import {
  describeValue,
  jsonExceeds,
  serdeJsonString,
  type FinishReason,
  type ToolCall,
  type TurnOutcome,
} from '@celestea/core';

import { failureText } from './failure-text.ts';
import { readEvent, type ReadEvent } from './stream-event.ts';
import type { StreamEnd } from './stream.ts';
import { ThinkingBurst } from './thinking.ts';
import type { WaitLimit } from './timeouts.ts';
import type { Turn } from './turn.ts';

/** What a model's stream came to. */
export interface Reply {
  /** The finished reply; `null` when no `done` came. */
  readonly done: FinishedReply | null;
  /** What ended the stream other than its end; may stand beside a `done` (L3.7). */
  readonly failure: TurnOutcome | null;
}

export interface FinishedReply {
  readonly text: string;
  readonly calls: ToolCall[];
  /** Why the model stopped; the last one that was said (X8). */
  readonly finish: FinishReason | undefined;
}

/** A failure before there was a stream. */
export const generateFailure = (message: string): TurnOutcome => ({
  error: { kind: 'generate', message },
});

const streamFailure = (message: string): TurnOutcome => ({ error: { kind: 'stream', message } });

/** The failure of a model that was silent for too long; `null` when it was not (X13). */
function idleFailure(wait: WaitLimit | null): TurnOutcome | null {
  if (wait?.expired !== true) return null;
  return streamFailure(`the model sent nothing for ${String(wait.limitMs)} ms (streamIdleMs)`);
}

/** Words, thinking and arguments of one reply end it beyond so many UTF-16 units, each (X32). */
const MAX_REPLY_UNITS = 64 * 2 ** 20;

/** Puts a reply together out of the events of a model's stream, telling the sink as it goes (L3). */
export class ReplyReader implements Reply {
  done: FinishedReply | null = null;
  failure: TurnOutcome | null = null;
  readonly #turn: Turn;
  readonly #thinking = new ThinkingBurst();
  #wordUnits = 0;
  #thinkingUnits = 0;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** Takes one event; `false` when nothing after it counts. */
  readonly take = (value: unknown): boolean => {
    const event = readEvent(value);
    switch (event.kind) {
      case 'text':
        this.#wordUnits += event.text.length;
        if (this.#wordUnits > MAX_REPLY_UNITS) return this.#tooLong('words');
        this.#flushThinking();
        if (this.done !== null) this.#turn.diagnose('event_after_done', 'text after a done event');
        this.#turn.emit({ kind: 'text', delta: event.text });
        return true;
      case 'thinking':
        this.#thinkingUnits += event.text.length;
        if (this.#thinkingUnits > MAX_REPLY_UNITS) return this.#tooLong('thinking');
        this.#turn.emit({ kind: 'thinking', delta: event.text });
        this.#addThinking(event.text, event.meta);
        return true;
      case 'usage':
        this.#turn.addUsage(event.usage);
        return true;
      case 'done':
        return this.#finish(event);
      case 'failed':
        return this.#end({ error: { kind: event.kindOf, message: event.message } });
      case 'interrupted':
        return this.#end('interrupted');
      case 'malformed':
        return this.#end(streamFailure(event.message));
      default:
        return event satisfies never;
    }
  };

  /** A reply may be finished in several parts (L3.7). */
  #finish(event: Extract<ReadEvent, { kind: 'done' }>): boolean {
    const text = (this.done?.text ?? '') + event.text;
    const calls = [...(this.done?.calls ?? []), ...event.calls];
    if (text.length > MAX_REPLY_UNITS) return this.#tooLong('words');
    const args = calls.map((call) => call.args);
    if (jsonExceeds(args, MAX_REPLY_UNITS)) return this.#tooLong('arguments');
    this.#flushThinking();
    this.done = { text, calls, finish: event.finish ?? this.done?.finish };
    return true;
  }

  #tooLong(what: 'words' | 'thinking' | 'arguments'): false {
    const limit = `the limit of ${String(MAX_REPLY_UNITS)} UTF-16 units (64 Mi)`;
    return this.#end(streamFailure(`the reply is longer than can be handled: its ${what} exceed ${limit}`));
  }

  /** Takes the end of the stream. */
  ended(end: StreamEnd, wait: WaitLimit | null): Reply {
    this.#flushThinking();
    this.failure ??= this.#failureOf(end, wait);
    return this;
  }

  #failureOf(end: StreamEnd, wait: WaitLimit | null): TurnOutcome | null {
    switch (end.kind) {
      case 'threw':
        this.#turn.diagnose('model_failed', 'the stream of the model threw', end.error);
        return streamFailure(failureText(end.error));
      case 'failed':
        this.#turn.diagnose('model_failed', 'the model gave no stream', end.error);
        return generateFailure(failureText(end.error));
      case 'none':
        return generateFailure(`the model returned ${describeValue(end.value)} instead of a stream`);
      case 'cancelled':
        return idleFailure(wait);
      default:
        return null;
    }
  }

  /** Writes the burst so far: a boundary was reached (L3.2). */
  #flushThinking(): void {
    const text = this.#thinking.take();
    if (text !== null) this.#turn.append({ type: 'thinking_delta', text });
  }

  #end(failure: TurnOutcome): false {
    this.#flushThinking();
    this.failure = failure;
    return false;
  }

  /** What a provider signed closes its burst and is written with it, words or none (X10). */
  #addThinking(text: string, meta: unknown): void {
    this.#thinking.add(text);
    if (serdeJsonString(meta) === 'null') return; // none, or one that JSON cannot hold
    this.#turn.append({ type: 'thinking_delta', text: this.#thinking.take() ?? '', meta });
  }
}
