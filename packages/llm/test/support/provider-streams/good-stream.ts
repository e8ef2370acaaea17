import type { FinishReason, Message, StreamEvent, ToolCall } from '@celestea/core';

import { bytesOf } from '../scripted-reply.ts';

/** What a provider sends for one whole reply, and what is to be made of it. */
export interface GoodStream {
  readonly title: string;
  readonly wire: string;
  /** Neighbouring deltas joined; the ids that the provider did not send are `made-1`, `made-2`… */
  readonly events: readonly StreamEvent[];
  /** The number of bytes with which the reply is over, whatever still follows them. */
  readonly overAt: number;
}

/** Why an API refuses: its words and its name for it. */
export interface Refusal {
  readonly message: string;
  readonly type: string;
}

/** What a provider's wire format looks like. */
export interface ProviderWire {
  readonly good: readonly GoodStream[];
  /** The events of a reply up to a call: the reasoning `hm`, the words `Let me `. */
  readonly begun: string;
  /** The next event, broken off in the arguments. */
  readonly broken: string;
  /** What comes between the reasoning and the words: a signature. */
  readonly signed: readonly StreamEvent[];
  /** What the API answers a request with that it refuses. */
  readonly refusal: (what: Refusal) => object;
  /** The same inside a stream. */
  readonly refusalEvent: (what: Refusal) => string;
  /** The API's own names for what goes wrong. */
  readonly names: Readonly<Record<'rateLimit' | 'internal' | 'key' | 'overloaded', string>>;
}

/** A key that looks like none; providers send it back in what they say of it. */
export const KEY = 'Zm9vYmFy.9d41c7.e5f0';

/** What a user said that is nobody else's business. */
export const PROMPT = 'What is in the letter of 3 May, confidentially?';

/** The number of bytes up to the end of the event that has `part` in it. */
export function bytesThrough(wire: string, part: string, eventEnd = '\n\n'): number {
  const at = wire.indexOf(part);
  const end = at < 0 ? -1 : wire.indexOf(eventEnd, at);
  if (end < 0) throw new Error(`no event has ${part} in it`);
  return bytesOf(wire.slice(0, end + eventEnd.length)).length;
}

/** The usage of a reply: tokens in and out, and which of them were cached and reasoned. */
export function usageOf(
  prompt_tokens: number,
  completion_tokens: number,
  cache_read = 0,
  reasoning_tokens = 0,
): StreamEvent {
  const total_tokens = prompt_tokens + completion_tokens;
  const usage = { prompt_tokens, completion_tokens, total_tokens, cache_read, reasoning_tokens };
  return { kind: 'usage', usage };
}

/** The `done` of a reply with these words, if any, and calls. */
export function doneWith(words: string, calls: ToolCall[], finish: FinishReason): StreamEvent {
  const message: Message = {
    role: 'assistant',
    content: [
      ...(words === '' ? [] : [{ type: 'text' as const, content: words }]),
      ...calls.map((call) => ({ type: 'tool_call' as const, content: call })),
    ],
    tool_call_id: null,
  };
  return { kind: 'done', message, finish };
}

/** Words that no cut at a byte leaves whole by chance. */
export const WORDS = 'Ich lese cafe\u0301 und 漢字 👩‍🚀.';

/** The `done` with those words and two calls of these ids, the first signed or not. */
export function readAndSearch(readId: string, searchId: string, meta?: object): StreamEvent {
  const read = { id: readId, name: 'read_file', args: { path: 'docs/日本語.md' } };
  const search = { id: searchId, name: 'search', args: { query: 'naïve 🍜\n' } };
  const signed = meta === undefined ? read : { ...read, meta };
  return doneWith(WORDS, [signed, search], 'tool_calls');
}
