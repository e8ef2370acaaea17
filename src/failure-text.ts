import { isRecord, serdeJsonString } from '@celestea/core';

import { errorMessage } from './cancel.ts';

const MAX_TEXT = 2000;
const MAX_DEPTH = 3;
const NO_REASON = 'no reason was given';

/**
 * Why something failed, for people and models: an Error's message with the causes it does not
 * name itself, the errors of an `AggregateError`, the message inside an object; never empty.
 */
export function failureText(thrown: unknown): string {
  try {
    const text = reasonOf(thrown, MAX_DEPTH);
    return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
  } catch {
    return errorMessage(thrown) || NO_REASON; // a getter of it that throws
  }
}

function reasonOf(thrown: unknown, depth: number): string {
  if (thrown instanceof Error) return errorReason(thrown, depth);
  if (!isPlainObject(thrown)) return errorMessage(thrown) || NO_REASON;
  const { message, error } = thrown;
  if (typeof message === 'string' && message !== '') return message;
  return error !== undefined && depth > 0 ? reasonOf(error, depth - 1) : serdeJsonString(thrown);
}

/** One that would show as `[object Object]`. */
const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && errorMessage(value) === '[object Object]';

function errorReason(error: Error, depth: number): string {
  const { message, name, cause, errors } = error as Error & { errors?: unknown };
  const inner = [cause, ...(Array.isArray(errors) ? (errors as unknown[]) : [])]
    .filter((one) => depth > 0 && one !== undefined && one !== null)
    .map((one) => reasonOf(one, depth - 1))
    .filter((text) => !message.includes(text));
  if (message === '') return inner.join('; ') || name || NO_REASON;
  return inner.length === 0 ? message : `${message} (${inner.join('; ')})`;
}
