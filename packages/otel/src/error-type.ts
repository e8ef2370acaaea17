import { LlmError } from '@celestea/core';

import { ERROR_TYPE_VALUE_OTHER } from './names.ts';
import { quietly } from './span.ts';

/** What a class is called; anything else could be a text with somebody's words in it. */
const CLASS_NAME = /^[A-Za-z_$][\w$]{0,63}$/;

/**
 * The `error.type` of what was thrown: `timeout` or the HTTP status of a model's failure where
 * it has one, else the name of the error's class. Never a message.
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
  const { name }: { name: unknown } = thrown;
  return typeof name === 'string' && CLASS_NAME.test(name) ? name : undefined;
}
