import {
  isRecord,
  type GenerateOptions,
  type Llm,
  type LlmStream,
  type ModelRequest,
  type StreamEvent,
  type ToolCall,
} from '@celestea/core';

import { requireThat } from './require.ts';

/** Something a script does between two events; what it throws, the stream throws. */
export type ScriptAction = () => unknown;

/** One reply: its events in order, with actions between them. */
export type Script = readonly (StreamEvent | ScriptAction)[];

/** A reply in words: one text delta, then `done`. */
export function say(text: string): StreamEvent[] {
  requireThat(typeof text === 'string', 'text: expected a string', text);
  return [{ kind: 'text', text }, done(text)];
}

/** A burst of reasoning in one delta. */
export function think(text: string): StreamEvent {
  requireThat(typeof text === 'string', 'text: expected a string', text);
  return { kind: 'thinking', text };
}

/** Reasoning that its provider signed: `meta` is what it wants back verbatim. */
export function thinkSigned(text: string, meta: unknown): StreamEvent {
  requireThat(typeof text === 'string', 'text: expected a string', text);
  return { kind: 'thinking', text, meta };
}

/** A reply that calls tools, with no words beside the calls. */
export function callTools(...calls: ToolCall[]): StreamEvent[] {
  return [done('', ...calls)];
}

/** The event that finishes a reply. */
export function done(text: string, ...calls: ToolCall[]): StreamEvent {
  requireThat(typeof text === 'string', 'text: expected a string', text);
  for (const call of calls) requireThat(isRecord(call), 'calls: expected { id, name, args }', call);
  const words = text === '' ? [] : [{ type: 'text', content: text } as const];
  const blocks = calls.map((content) => ({ type: 'tool_call', content }) as const);
  return {
    kind: 'done',
    message: { role: 'assistant', content: [...words, ...blocks], tool_call_id: null },
  };
}

/** What happened to one stream of a {@link ScriptedLlm}. */
export type StreamFate = 'open' | 'ended' | 'closed' | 'threw';

/**
 * A model that plays one script a request, and keeps what it was asked. A request beyond the
 * last script is refused with an Error that says so.
 *
 * @example new ScriptedLlm([callTools({ id: 'a', name: 'time', args: {} }), say('It is noon.')])
 */
export class ScriptedLlm implements Llm {
  /** Every request, oldest first. */
  readonly requests: ModelRequest[] = [];
  /** The signal handed over with each request. */
  readonly signals: (AbortSignal | undefined)[] = [];
  /** What became of each stream: read to its end, closed by the reader, or thrown. */
  readonly fates: StreamFate[] = [];
  readonly #scripts: readonly Script[];

  /** Throws a `TypeError` when a script is no array. */
  constructor(scripts: readonly Script[]) {
    const expected = 'scripts: expected an array of scripts';
    requireThat(Array.isArray(scripts), expected, scripts);
    for (const script of scripts) {
      const hint = `${expected}, wrap it: [say(…)]; one is no array`;
      requireThat(Array.isArray(script), hint, script);
    }
    this.#scripts = scripts;
  }

  /** Plays the next script. Rejects when there is none. */
  generate(request: ModelRequest, options?: GenerateOptions): Promise<LlmStream> {
    const index = this.requests.push(request) - 1;
    this.signals.push(options?.signal);
    const script = this.#scripts[index];
    if (script === undefined) {
      const has = `it has ${String(this.#scripts.length)}`;
      return Promise.reject(new Error(`no script for request ${String(index + 1)}: ${has}`));
    }
    this.fates[index] = 'open';
    return Promise.resolve(this.#closable(this.#play(script, index), index));
  }

  /** A generator that was never started runs no `finally` when it is closed. */
  #closable(events: AsyncGenerator<StreamEvent>, index: number): LlmStream {
    const iterator: AsyncIterator<StreamEvent> = {
      next: () => events.next(),
      return: async () => {
        const result = await events.return(undefined);
        if (this.fates[index] === 'open') this.fates[index] = 'closed';
        return result;
      },
    };
    return { [Symbol.asyncIterator]: () => iterator };
  }

  async *#play(script: Script, index: number): AsyncGenerator<StreamEvent> {
    let fate: StreamFate = 'closed';
    try {
      for (const item of script) {
        if (typeof item === 'function') await item();
        else yield item;
      }
      fate = 'ended';
    } catch (error) {
      fate = 'threw';
      throw error;
    } finally {
      this.fates[index] = fate;
    }
  }
}

/** A model whose `generate` rejects, or with `'throw'` throws before it gives a promise. */
export function failingLlm(error: unknown, how: 'reject' | 'throw' = 'reject'): Llm {
  const known: readonly unknown[] = ['reject', 'throw'];
  requireThat(known.includes(how), "how: expected 'reject' or 'throw'", how);
  return {
    generate: () => {
      if (how === 'throw') throw error;
      // A model may reject with anything; a double has to be able to as well.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      return Promise.reject(error);
    },
  };
}

/** A model that hangs: in `generate`, or, given events, in its stream once they were read. */
export class HangingLlm implements Llm {
  /** Streams that the reader closed. */
  closed = 0;
  readonly #events: readonly StreamEvent[] | undefined;

  constructor(events?: readonly StreamEvent[]) {
    const fits = events === undefined || Array.isArray(events);
    requireThat(fits, 'events: expected an array of stream events', events);
    this.#events = events;
  }

  /** A promise that never settles, or a stream that never ends. */
  generate(): Promise<LlmStream> {
    if (this.#events === undefined) return new Promise(() => undefined);
    return Promise.resolve({ [Symbol.asyncIterator]: () => this.#iterate(this.#events ?? []) });
  }

  #iterate(events: readonly StreamEvent[]): AsyncIterator<StreamEvent> {
    const left = events.values();
    return {
      next: () => {
        const { done: empty, value } = left.next();
        if (empty === true) return new Promise(() => undefined);
        return Promise.resolve({ done: false, value });
      },
      return: () => {
        this.closed += 1;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}

/** Wraps a model and keeps what it was asked and what it answered. */
export class RecordingLlm implements Llm {
  readonly requests: ModelRequest[] = [];
  /** The events of each reply, as far as they were read. */
  readonly replies: StreamEvent[][] = [];
  readonly #inner: Llm;

  constructor(inner: Llm) {
    const fits = typeof (inner as Partial<Llm> | undefined)?.generate === 'function';
    requireThat(fits, 'inner: expected a model with generate', inner);
    this.#inner = inner;
  }

  /** What the inner model says, written down. */
  async generate(request: ModelRequest, options?: GenerateOptions): Promise<LlmStream> {
    this.requests.push(request);
    const events: StreamEvent[] = [];
    this.replies.push(events);
    return recorded(await this.#inner.generate(request, options), events);
  }
}

/** By hand and not as a generator, so that a stream closed before its first read closes too. */
function recorded(stream: LlmStream, into: StreamEvent[]): LlmStream {
  return {
    [Symbol.asyncIterator]: () => {
      const inner = stream[Symbol.asyncIterator]();
      return {
        next: async () => {
          const result = await inner.next();
          if (result.done !== true) into.push(result.value);
          return result;
        },
        return: async () => {
          await inner.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
