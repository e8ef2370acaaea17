import {
  FINISH_REASONS,
  isRecord,
  usageAdd,
  zeroUsage,
  type FinishReason,
  type Message,
  type StreamEvent,
  type Usage,
} from '@celestea/core';
import type { Attributes } from '@opentelemetry/api';

import { quietly } from './quietly.ts';
import { MALFORMED, type CallEnd } from './traced-call.ts';

/** What is remembered of a reply while it streams: numbers, and its finished message. */
export class ReplyNotes {
  readonly #startedMs = performance.now();
  #firstMs: number | null = null;
  #usage: Usage | null = null;
  #finish: FinishReason | undefined;
  #message: Message | null = null;
  /** Why the reply is none, where an event said so. */
  #failure: CallEnd | null = null;

  /** What its responses cost; `null` when nothing was told. */
  get usage(): Usage | null {
    return this.#usage;
  }

  /** The finished reply and why the model stopped, where it was said. */
  get done(): { readonly message: Message; readonly finish: FinishReason | undefined } | null {
    return this.#message === null ? null : { message: this.#message, finish: this.#finish };
  }

  /** Takes one event of the stream, whatever it is. */
  take(event: unknown): void {
    this.#firstMs ??= performance.now();
    if (this.#failure !== null) return;
    const fits = quietly(() => isRecord(event) && this.#read(event as StreamEvent));
    if (fits !== true) this.#failure = MALFORMED;
  }

  /** How the reply ended, its stream having ended or been closed by its reader. */
  end(how: 'ended' | 'closed'): CallEnd {
    if (this.#failure !== null) return this.#failure;
    if (this.#message !== null) return { outcome: 'completed' };
    return { outcome: how === 'ended' ? 'interrupted' : 'abandoned' };
  }

  attributes(): Attributes {
    const attributes = usageAttributes(this.#usage);
    if (this.#firstMs !== null) {
      const waitedMs = this.#firstMs - this.#startedMs;
      attributes['gen_ai.response.time_to_first_chunk'] = waitedMs / 1000;
    }
    if (this.#finish !== undefined) {
      attributes['gen_ai.response.finish_reasons'] = [this.#finish];
    }
    return attributes;
  }

  /** Whether the event is one, as far as it is looked into. */
  #read(event: StreamEvent): boolean {
    switch (event.kind) {
      case 'text':
      case 'thinking':
        return typeof event.text === 'string';
      case 'usage':
        return this.#addUsage(event.usage);
      case 'done':
        return this.#addDone(event.message, event.finish);
      case 'failed':
        this.#failure = failureOf(event.kindOf, event.message);
        return true;
      case 'interrupted':
        this.#failure = { outcome: 'interrupted' };
        return true;
      default:
        event satisfies never; // a kind that is none
        return false;
    }
  }

  #addUsage(usage: Usage): boolean {
    const sum = usageAdd(this.#usage ?? zeroUsage(), usage);
    if (!Object.values(sum).every((count: unknown) => typeof count === 'number')) return false;
    this.#usage = sum;
    return true;
  }

  /** A reply may come in parts (L3.7). */
  #addDone(message: Message, finish: FinishReason | undefined): boolean {
    if (!Array.isArray(message.content)) return false;
    const content = [...(this.#message?.content ?? []), ...message.content];
    this.#message = { ...(this.#message ?? message), content };
    this.#finish = FINISH_REASONS.find((known) => known === finish) ?? this.#finish;
    return true;
  }
}

function failureOf(kindOf: unknown, message: unknown): CallEnd {
  const isKnown = kindOf === 'generate' || kindOf === 'stream';
  if (!isKnown || typeof message !== 'string') return MALFORMED;
  return { outcome: 'error', errorType: kindOf, message };
}

/** Tokens by the conventions; none where nothing was told of them. */
export function usageAttributes(usage: Usage | null): Attributes {
  if (usage === null) return {};
  return {
    'gen_ai.usage.input_tokens': usage.prompt_tokens,
    'gen_ai.usage.output_tokens': usage.completion_tokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cache_read,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoning_tokens,
  };
}
