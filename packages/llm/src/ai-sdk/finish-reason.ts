import type { LanguageModelV3FinishReason } from '@ai-sdk/provider';
import { LlmError, type FinishReason } from '@celestea/core';

/**
 * How providers call the end of a reply that they broke off. Adapters know these for `other`,
 * which is also what they make of a reason that they do not know.
 */
const BROKEN_OFF: ReadonlySet<string> = new Set([
  'insufficient_system_resource',
  'error',
  'network_error',
  'server_error',
  'internal_error',
  'abort',
  'aborted',
  'canceled',
  'cancelled',
  'interrupt',
  'interrupted',
  'timeout',
  'OTHER',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
]);

/** The same of a reply that a filter ended. */
const FILTERED = 'sensitive';

/**
 * Refuses an end that is none, and calls of a reply that did not end in a way that is known.
 *
 * @throws LlmError (`stream`)
 */
export function checkEnd({ unified, raw }: LanguageModelV3FinishReason, hasCalls: boolean): void {
  switch (unified) {
    case 'stop':
    case 'tool-calls':
    case 'length': // the loop runs none of its calls (X8)
      return;
    case 'content-filter':
      if (hasCalls) throw brokenOff(raw ?? unified);
      return;
    case 'other':
      // some adapters close a torn stream like this
      if (raw === undefined || raw === '') {
        throw tornError('the stream of the model ended without a finish reason');
      }
      if (BROKEN_OFF.has(raw)) throw brokenOff(raw, true);
      if (hasCalls && raw === FILTERED) throw brokenOff(raw);
      if (!hasCalls) return;
      throw new LlmError(
        `the reply of the model has tool calls, and ended for a reason that is not known (${raw})`,
        'stream',
      );
    case 'error':
      throw new LlmError(
        `the model stopped with an error (${raw ?? 'no reason given'})`,
        'stream',
        { retryable: BROKEN_OFF.has(raw ?? '') },
      );
    default:
      unified satisfies never;
  }
}

/** A reply that ended too early, which another try may give as a whole. */
export const tornError = (message: string): LlmError =>
  new LlmError(message, 'stream', { retryable: true });

const brokenOff = (raw: string, retryable = false): LlmError =>
  new LlmError(`the provider broke the reply off (${raw})`, 'stream', { retryable });

/** The reason of an end that {@link checkEnd} let pass (X8). */
export function finishOf({ unified, raw }: LanguageModelV3FinishReason): FinishReason {
  if (raw === 'refusal') return 'refusal';
  switch (unified) {
    case 'tool-calls':
      return 'tool_calls';
    case 'content-filter':
      return 'content_filter';
    case 'stop':
    case 'length':
      return unified;
    case 'error':
    case 'other':
      return raw === FILTERED ? 'content_filter' : 'other';
    default:
      unified satisfies never;
      return 'other';
  }
}
