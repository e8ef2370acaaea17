import {
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider';
import { isRecord, LlmError, type ModelFailureKind, type TimeoutStage } from '@celestea/core';

import { bodyReason, codeOf, reasonOf } from './provider-words.ts';
import { readRetryAfter } from './retry-after.ts';
import type { Redact } from './secrets.ts';

const MAX_TEXT = 600;
const MAX_DEPTH = 6;

/** Mostly a base URL that lacks its version. */
const NOT_FOUND = 404;

/** Statuses after which the same request may succeed; all from 500 on are such too. */
const RETRYABLE_STATUSES: readonly number[] = [408, 409, 425, 429];

/** Names that providers give to failures that pass. */
const PASSING =
  /overload|rate.?limit|too.?many|unavailable|resource.?exhausted|server.?error|internal|api_error|timeout|timed out|try again/i;

/** A quota that is used up does not come back by waiting, though its status says so. */
const SPENT = /insufficient_quota|billing|credit/i;

/** The wait that a network error's code stands for. */
const STAGES: Readonly<Record<string, TimeoutStage>> = {
  UND_ERR_CONNECT_TIMEOUT: 'connect',
  ETIMEDOUT: 'connect',
  UND_ERR_HEADERS_TIMEOUT: 'response',
  UND_ERR_BODY_TIMEOUT: 'idle',
};

/** Codes of connections that failed or broke. */
const BROKEN =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|UND_ERR_SOCKET)$/;

/**
 * Any error of a provider as an {@link LlmError}: what it says, and what a retry policy needs.
 * Nothing else of it is kept, since the errors of adapters carry the whole request.
 */
export function llmFailure(thrown: unknown, kind: ModelFailureKind, redact: Redact): LlmError {
  if (thrown instanceof LlmError) return thrown;
  const chain = causesOf(thrown);
  const stage = chain.map(timeoutStageOf).find((found) => found !== null);
  if (stage !== undefined) {
    const details = { timeoutStage: stage, retryable: true };
    return new LlmError(
      tidy(`the provider timed out: ${reasonOf(thrown)}`, redact),
      'timeout',
      details,
    );
  }
  if (APICallError.isInstance(thrown)) return apiFailure(thrown, chain, kind, redact);
  if (JSONParseError.isInstance(thrown)) {
    return new LlmError('the provider sent an event that is no JSON', kind, { retryable: true });
  }
  if (TypeValidationError.isInstance(thrown)) {
    const { value } = thrown;
    // an error in a shape of the server's own, or else what the SDK cannot read
    if (isRecord(value) && ('error' in value || 'message' in value)) {
      return llmFailure(value, kind, redact);
    }
    return new LlmError('the provider sent an event of an unknown shape', kind);
  }
  if (InvalidResponseDataError.isInstance(thrown)) {
    // a stream that ends too early, and events that make no reply
    const text = `the provider's stream makes no reply: ${thrown.message}`;
    return new LlmError(tidy(text, redact), kind, { retryable: true });
  }
  if (chain.some(isBroken)) return brokenFailure(chain, kind, redact);
  const code = codeOf(thrown);
  const text = reasonOf(thrown);
  const httpStatus = statusOf(thrown);
  const named = [code, text].filter((part) => part !== '').join(' ');
  const retryable =
    !SPENT.test(named) &&
    (isRetryableStatus(httpStatus) || (isSaid(thrown) && PASSING.test(named)));
  return new LlmError(tidy(text || code || 'the provider gave no reason', redact), kind, {
    httpStatus,
    retryable,
  });
}

function apiFailure(
  error: APICallError,
  chain: readonly unknown[],
  kind: ModelFailureKind,
  redact: Redact,
): LlmError {
  const { statusCode, message, responseHeaders, responseBody } = error;
  const isRefusal = statusCode !== undefined && statusCode >= 300;
  if (!isRefusal && (statusCode === undefined || chain.some(isBroken))) {
    return brokenFailure(chain, kind, redact, statusCode === undefined ? kind : 'stream');
  }
  if (!isRefusal) {
    const text = `the provider's answer could not be read: ${message}`;
    return new LlmError(tidy(text, redact), kind, { retryable: error.isRetryable });
  }
  // what the SDK could not read it replaces by the name of the status
  const words = (error.data === undefined ? bodyReason(responseBody) : '') || message;
  const said = words.trim() === '' ? '' : `: ${words}`;
  const where = statusCode === NOT_FOUND ? ` at ${plainUrl(error.url)}` : '';
  return new LlmError(tidy(`HTTP ${String(statusCode)}${where}${said}`, redact), kind, {
    httpStatus: statusCode,
    retryable: isRetryableStatus(statusCode) && !SPENT.test(`${message} ${responseBody ?? ''}`),
    retryAfterMs: readRetryAfter(responseHeaders),
  });
}

function brokenFailure(
  chain: readonly unknown[],
  kind: ModelFailureKind,
  redact: Redact,
  broke: ModelFailureKind = kind,
): LlmError {
  const what = broke === 'generate' ? 'the provider cannot be reached' : 'the connection broke';
  const inner = chain.map(reasonOf).findLast((text) => text !== '') ?? '';
  const why = inner === '' ? '' : `: ${inner}`;
  return new LlmError(tidy(`${what}${why}`, redact), kind, { retryable: true });
}

/** Neither a user nor a query, which may hold a key. */
function plainUrl(text: string): string {
  if (!URL.canParse(text)) return 'an unknown place';
  const { origin, pathname } = new URL(text);
  return origin + pathname;
}

/** The error and what it was caused by. */
function causesOf(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  let next = thrown;
  while (next !== undefined && next !== null && chain.length < MAX_DEPTH) {
    chain.push(next);
    const [first] = next instanceof AggregateError ? (next.errors as unknown[]) : [];
    next = next instanceof Error ? (next.cause ?? first) : undefined;
  }
  return chain;
}

function timeoutStageOf(error: unknown): TimeoutStage | null {
  const stage = STAGES[codeOf(error)];
  if (stage !== undefined) return stage;
  return error instanceof Error && error.name === 'TimeoutError' ? 'response' : null;
}

const isBroken = (error: unknown): boolean =>
  BROKEN.test(codeOf(error)) ||
  (error instanceof TypeError && /^(?:terminated|fetch failed)$/i.test(error.message));

const isRetryableStatus = (status: number | null): boolean =>
  status !== null && (status >= 500 || RETRYABLE_STATUSES.includes(status));

/** Whether a provider said it: its errors inside a stream are plain objects or texts. */
const isSaid = (thrown: unknown): boolean => !(thrown instanceof Error);

/** The HTTP status that an error inside a stream names. */
function statusOf(thrown: unknown): number | null {
  if (!isRecord(thrown)) return null;
  const { code, status, error } = thrown;
  const found = [status, code].map(Number).find((one) => one >= 400 && one < 600);
  return found ?? (isRecord(error) ? statusOf(error) : null);
}

/** One line, bounded, without secrets. */
function tidy(text: string, redact: Redact): string {
  const line = redact(text).replace(/\s+/g, ' ').trim().toWellFormed();
  return line.length <= MAX_TEXT ? line : `${line.slice(0, MAX_TEXT).toWellFormed()}…`;
}
