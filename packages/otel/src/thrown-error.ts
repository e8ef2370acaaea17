import { LlmError } from '@celestea/core';

import { quietly } from './quietly.ts';


/** What a class is called; anything else could be a text with somebody's words in it. */
const CLASS_NAME = /^[A-Za-z_$][\w$]{0,63}$/;

/** Names by which the platform tells errors of one class apart. */
const PLATFORM_NAMES = ['AbortError', 'DataCloneError', 'NetworkError', 'TimeoutError'];

/** What was thrown, as a span tells it. */
export interface ThrownError {
  readonly errorType: string;
  readonly message: string | undefined;
}

export function thrownError(thrown: unknown): ThrownError {
  const message = quietly(() => (thrown instanceof Error ? thrown.message : String(thrown)));
  return { errorType: errorType(thrown), message };
}

/**
 * The `error.type` of what was thrown: `timeout` or the HTTP status of a model's failure where
 * it has one, else a name the platform gives its errors, else the name of the error's class. Never
 * a message, nor what somebody else wrote into the error's `name`.
 */
export function errorType(thrown: unknown): string {
  if (!(thrown instanceof Error)) return '_OTHER';
  if (thrown instanceof LlmError) {
    if (thrown.isTimeout) return 'timeout';
    if (typeof thrown.httpStatus === 'number') return String(thrown.httpStatus);
  }
  if (PLATFORM_NAMES.includes(thrown.name)) return thrown.name;
  // asked of its prototype: the error itself may have a `constructor` of anybody's making
  const { constructor } = Object.getPrototypeOf(thrown) as Error;
  return CLASS_NAME.test(constructor.name) ? constructor.name : '_OTHER';
}
