import {
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider';
import {
  isRecord,
  LlmError,
  type LlmErrorDetails,
  type ModelFailureKind,
  type TimeoutStage,
} from '@celestea/core';

import { AnswerError } from './answer-error.ts';
import { mayPass } from './may-pass.ts';
import {
  bodyReason,
  isErrorBody,
  namesOf,
  parseBody,
  reasonOf,
  statusOf,
} from './provider-words.ts';
import { readRetryAfter } from './retry-after.ts';
import type { Redact } from './secrets.ts';

const MAX_TEXT = 600;
const MAX_DEPTH = 6;

/** Mostly a base URL that lacks its version. */
const NOT_FOUND = 404;

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

/** Codes of requests that fail each time they are made. */
const LASTING =
  /^(?:(?:UND_ERR_HEADERS|HPE_HEADER)_OVERFLOW|ERR_SSL_WRONG_VERSION_NUMBER|\w*CERT\w*|UNABLE_TO_\w+)$/;

/** What a `fetch` says of a request that it does not make; there is no code. */
const NOT_MADE = /^(?:bad port|unknown scheme|invalid url|failed to parse url.*)$/i;

/**
 * Any error of a provider as an {@link LlmError}: what it says, and what a retry policy needs.
 * Nothing else of it is kept, since the errors of adapters carry the whole request.
 */
export function llmFailure(thrown: unknown, kind: ModelFailureKind, redact: Redact): LlmError {
  const tell: Tell = (text, details) => new LlmError(tidy(text, redact), kind, details);
  const chain = causesOf(thrown);
  const own = chain.find((error) => error instanceof LlmError);
  if (own !== undefined) return own;
  const timeoutStage = chain.map(timeoutStageOf).find((found) => found !== null);
  if (timeoutStage !== undefined) {
    const text = tidy(`the provider timed out: ${reasonOf(thrown)}`, redact);
    return new LlmError(text, 'timeout', { timeoutStage, retryable: true });
  }
  const answer = chain.find((error) => error instanceof AnswerError);
  if (answer !== undefined) {
    return answer.told === undefined ? tell(answer.message) : toldFailure(answer.told, tell);
  }
  if (APICallError.isInstance(thrown)) return apiFailure(thrown, chain, kind, tell);
  if (JSONParseError.isInstance(thrown)) {
    return tell('the provider sent an event that is no JSON', { retryable: true });
  }
  if (TypeValidationError.isInstance(thrown)) {
    // an error in a shape of the server's own, or else what the SDK cannot read
    if (isErrorBody(thrown.value)) return toldFailure(thrown.value, tell);
    return tell('the provider sent an event of an unknown shape');
  }
  if (InvalidResponseDataError.isInstance(thrown)) {
    // a stream that ends too early, and events that make no reply
    const text = `the provider's stream makes no reply: ${thrown.message}`;
    return tell(text, { retryable: true });
  }
  return chain.some(isBroken) ? brokenFailure(chain, kind, tell) : toldFailure(thrown, tell);
}

/** An error of the kind that is told, its text tidied. */
type Tell = (text: string, details?: LlmErrorDetails) => LlmError;

/** An error inside a stream or in place of one, or something else that was thrown. */
function toldFailure(told: unknown, tell: Tell): LlmError {
  const words = reasonOf(told);
  const status = statusOf(told);
  // what a program throws is not a provider's to name
  const signs = told instanceof Error ? { names: '', words: '' } : { names: namesOf(told), words };
  const retryable = mayPass({ status, ...signs, retryAfterMs: null });
  return tell(words || 'the provider gave no reason', { httpStatus: status, retryable });
}

function apiFailure(
  error: APICallError,
  chain: readonly unknown[],
  kind: ModelFailureKind,
  tell: Tell,
): LlmError {
  const { statusCode, message, responseHeaders, responseBody = '' } = error;
  if (statusCode === undefined) return brokenFailure(chain, kind, tell);
  if (statusCode < 300) {
    if (chain.some(isBroken)) return brokenFailure(chain, 'stream', tell);
    const text = `the provider's answer could not be read: ${message}`;
    return tell(text, { retryable: error.isRetryable });
  }
  // what the SDK could not read it replaces by the name of the status
  const words = (error.data === undefined ? bodyReason(responseBody) : '') || message;
  const said = words.trim() === '' ? '' : `: ${words}`;
  const where = statusCode === NOT_FOUND ? ` at ${plainUrl(error.url)}` : '';
  const names = namesOf(parseBody(responseBody));
  const retryAfterMs = readRetryAfter(responseHeaders);
  const retryable = mayPass({ status: statusCode, names, words, retryAfterMs });
  const details = { httpStatus: statusCode, retryable, retryAfterMs };
  return tell(`HTTP ${String(statusCode)}${where}${said}`, details);
}

/** @param broke what was being done: asking, or reading the answer */
function brokenFailure(chain: readonly unknown[], broke: ModelFailureKind, tell: Tell): LlmError {
  const lasting = chain.map(lastingReason).find((found) => found !== null);
  if (lasting !== undefined) return tell(`the provider cannot be asked: ${lasting}`);
  const what = broke === 'generate' ? 'the provider cannot be reached' : 'the connection broke';
  const inner = chain.map(reasonOf).findLast((text) => text !== '') ?? '';
  return tell(inner === '' ? what : `${what}: ${inner}`, { retryable: true });
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

/** The code of a network error. */
function codeOf(error: unknown): string {
  const code = isRecord(error) ? error['code'] : undefined;
  return typeof code === 'string' ? code : '';
}

/** Why a request cannot be made, then or later; `null` when it may. */
function lastingReason(error: unknown): string | null {
  const words = reasonOf(error);
  return LASTING.test(codeOf(error)) || NOT_MADE.test(words) ? words : null;
}

function timeoutStageOf(error: unknown): TimeoutStage | null {
  const stage = STAGES[codeOf(error)];
  if (stage !== undefined) return stage;
  return error instanceof Error && error.name === 'TimeoutError' ? 'response' : null;
}

const isBroken = (error: unknown): boolean =>
  BROKEN.test(codeOf(error)) ||
  (error instanceof TypeError && /^(?:terminated|fetch failed)$/i.test(error.message));

/** One line, bounded, without secrets. */
function tidy(text: string, redact: Redact): string {
  const line = redact(text).replace(/\s+/g, ' ').trim().toWellFormed();
  return line.length <= MAX_TEXT ? line : `${line.slice(0, MAX_TEXT).toWellFormed()}…`;
}
