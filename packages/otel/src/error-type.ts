import { LlmError } from '@celestea/core';

import { ERROR_TYPE_VALUE_OTHER } from './names.ts';
import { quietly } from './span.ts';

/** What a class is called; anything else could be a text with somebody's words in it. */
const CLASS_NAME = /^[A-Za-z_$][\w$]{0,63}$/;

/** The names by which the platform tells its errors apart, all of one class. */
const PLATFORM_NAMES: ReadonlySet<unknown> = new Set([
  'AbortError',
  'DataCloneError',
  'EncodingError',
  'InvalidAccessError',
  'InvalidStateError',
  'NetworkError',
  'NotAllowedError',
  'NotFoundError',
  'NotReadableError',
  'NotSupportedError',
  'OperationError',
  'QuotaExceededError',
  'SecurityError',
  'TimeoutError',
]);

/**
 * The `error.type` of what was thrown: `timeout` or the HTTP status of a model's failure where
 * it has one, else a name the platform gives its errors, else the name of the error's class. Never
 * a message, nor what somebody else wrote into the error's `name`.
 */
export function errorType(thrown: unknown): string {
  return quietly(() => typeOf(thrown)) ?? ERROR_TYPE_VALUE_OTHER;
}

function typeOf(thrown: unknown): string | undefined {
  if (thrown instanceof LlmError) {
    if (thrown.isTimeout) return 'timeout';
    if (typeof thrown.httpStatus === 'number') return String(thrown.httpStatus);
  }
  if (!(thrown instanceof Error)) return undefined;
  return platformName(thrown) ?? className(thrown);
}

function platformName(error: Error): string | undefined {
  const name = quietly(() => error.name);
  return PLATFORM_NAMES.has(name) ? name : undefined;
}

/** Asked of its prototype: the error itself may have a `constructor` of anybody's making. */
function className(error: Error): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(error);
  const { constructor } = prototype as { readonly constructor?: unknown };
  if (typeof constructor !== 'function') return undefined;
  const { name }: { name: unknown } = constructor;
  return typeof name === 'string' && CLASS_NAME.test(name) ? name : undefined;
}
