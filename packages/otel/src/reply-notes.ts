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

import {
  ATTR_GEN_AI_RESPONSE_FINISH_REASONS,
  ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK,
} from './names.ts';
import { quietly } from './span.ts';
import type { CallEnd } from './traced-call.ts';
import { usageAttributes } from './usage-attributes.ts';

const MALFORMED: CallEnd = { outcome: 'error', errorType: 'malformed' };

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
    const waitedMs = this.#firstMs === null ? null : this.#firstMs - this.#startedMs;
    return {
      ...usageAttributes(this.#usage),
      ...(waitedMs === null ? {} : { [ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK]: waitedMs / 1000 }),
      ...(this.#finish === undefined
        ? {}
        : { [ATTR_GEN_AI_RESPONSE_FINISH_REASONS]: [this.#finish] }),
    };
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
    const before = this.#message;
    const content = [...(before?.content ?? []), ...message.content];
    this.#message = before === null ? message : { ...before, content };
    this.#finish = FINISH_REASONS.find((known) => known === finish) ?? this.#finish;
    return true;
  }
}

function failureOf(kindOf: unknown, message: unknown): CallEnd {
  if ((kindOf !== 'generate' && kindOf !== 'stream') || typeof message !== 'string') {
    return MALFORMED;
  }
  return { outcome: 'error', errorType: kindOf, message };
}
