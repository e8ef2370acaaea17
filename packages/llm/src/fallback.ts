import { expectThat, isRecord, LlmError, type Llm } from '@celestea/core';

import { closeReply, openReply, type EarlyFailure, type UsageEvent } from './first-event.ts';
import { expectHook, tell } from './hook.ts';
import { expectLlm, type NamedLlm } from './named-llm.ts';

/** A change from one model to the next. */
export interface FallbackNotice {
  /** The name of the model that failed. */
  readonly failed: string;
  /** The name of the model that is asked now. */
  readonly next: string;
  /** What was thrown; for a `failed` event and for an empty reply an {@link LlmError}. */
  readonly error: unknown;
}

/** Hooks of {@link withFallback}; what they throw is ignored. */
export interface FallbackOptions {
  /** Told before the next model is asked. */
  readonly onFallback?: (notice: FallbackNotice) => void;
  /** Told the name of the model that answers, once a `generate`, at its first event. */
  readonly onAnswer?: (name: string) => void;
}

/**
 * Several models as one: each request goes to the first, and to the next one only when the one
 * before failed and nothing of its reply was told. A failure is a rejection, a throw before the
 * first event, a `failed` event in its place, or a stream that ends without any; `usage` alone is
 * no reply, and is told with the one that stands. Every failure
 * counts, whatever its class: a refused key is a reason to ask another provider, and so is a
 * request that is too long or malformed for one of them, since their limits differ. The
 * failure of the last model stands as it is.
 *
 * `generate` settles when there is a first event or no model is left. An abort ends it at once
 * with the signal's reason, and no other model is asked. Each `generate` begins with the first
 * model again; wrap each in `withRetry` to have it retried before the next is asked.
 *
 * @throws TypeError when there is no model, or naming what is not what it should be.
 *
 * @example
 * const llm = withFallback([
 *   { name: 'large', llm: withRetry(large) },
 *   { name: 'local', llm: local },
 * ]);
 */
export function withFallback(llms: readonly NamedLlm[], options: FallbackOptions = {}): Llm {
  const [first, ...rest] = readModels(llms);
  const isObject: boolean = isRecord(options); // a test that does not narrow
  expectThat(isObject, 'options', 'an object such as { onAnswer }', options);
  const { onFallback, onAnswer } = options;
  expectHook('onFallback', onFallback);
  expectHook('onAnswer', onAnswer);
  return {
    generate: async (request, given) => {
      let current = first;
      const others = rest.values();
      let before: readonly UsageEvent[] = [];
      for (;;) {
        const opened = await openReply(current.llm, request, given, before);
        const { failure, reply } = opened;
        before = opened.spent;
        if (failure === null) {
          tell(onAnswer, current.name);
          return reply;
        }
        const next = others.next().value;
        if (next === undefined) return reply;
        if (failure.kind === 'failed') closeReply(reply);
        tell(onFallback, { failed: current.name, next: next.name, error: errorOf(failure) });
        given?.signal?.throwIfAborted();
        current = next;
      }
    },
  };
}

function errorOf(failure: EarlyFailure): unknown {
  switch (failure.kind) {
    case 'threw':
      return failure.error;
    case 'failed':
      return new LlmError(failure.message, failure.kindOf);
    case 'empty':
      return new LlmError('the model ended its stream without an event', 'stream');
    default:
      return failure satisfies never;
  }
}

/** A copy, so that what the caller does to the list later changes nothing. */
function readModels(llms: readonly NamedLlm[]): [NamedLlm, ...NamedLlm[]] {
  const given: unknown = llms;
  const expected = 'an array with at least one { name, llm }';
  expectThat(Array.isArray(given), 'llms', expected, given);
  const [first, ...rest] = Array.from(llms, readModel);
  if (first === undefined) throw new TypeError(`llms: expected ${expected}, got an empty array`);
  return [first, ...rest];
}

function readModel(model: NamedLlm, index: number): NamedLlm {
  const at = `llms[${String(index)}]`;
  expectThat(isRecord(model), at, 'an object { name, llm }', model);
  const { name, llm } = model;
  const isName = typeof name === 'string' && name.trim() !== '';
  expectThat(isName, `${at}.name`, 'a text that is not empty', name);
  expectLlm(`${at}.llm`, llm);
  return { name, llm };
}
