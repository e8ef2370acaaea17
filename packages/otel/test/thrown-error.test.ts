import { LlmError } from '@celestea/core';
import { expect, test } from 'vitest';

import { errorType } from '../src/thrown-error.ts';

class OutOfTeaError extends Error {}

const named = (error: Error, name: unknown): Error => Object.assign(error, { name });

const classNamed = (name: unknown): Error => {
  class Made extends Error {}
  Object.defineProperty(Made, 'name', { value: name });
  return new Made();
};

test.each<[string, unknown, string]>([
  ['the class', new OutOfTeaError('SECRET'), 'OutOfTeaError'],
  ['the class, whatever the name says', named(new OutOfTeaError(), 'SECRET'), 'OutOfTeaError'],
  ['the class, where the name is no text', named(new RangeError(), 7), 'RangeError'],
  [
    'the class, whatever constructor the error has itself',
    Object.assign(new TypeError(), { constructor: { name: 'SECRET' } }),
    'TypeError',
  ],
  ['the class of a longest name', classNamed('A'.repeat(64)), 'A'.repeat(64)],
  ['no class of a longer name', classNamed('A'.repeat(65)), '_OTHER'],
  ['no class whose name is no identifier', classNamed('the key is 1234'), '_OTHER'],
  ['no class without a name', classNamed(''), '_OTHER'],
  ['no class whose name is no text', classNamed(7), '_OTHER'],
  ['an error of the platform', new DOMException('SECRET', 'TimeoutError'), 'TimeoutError'],
  ['an abort', AbortSignal.abort().reason, 'AbortError'],
  ['a plain error by a name of the platform', named(new Error(), 'AbortError'), 'AbortError'],
  ['an error of the platform by another name', new DOMException('x', 'SECRET'), 'DOMException'],
  ['a model without an answer in time', new LlmError('x', 'timeout'), 'timeout'],
  ['a model that failed', new LlmError('x', 'stream'), 'LlmError'],
  ['a text', 'SECRET', '_OTHER'],
  ['nothing', undefined, '_OTHER'],
  ['what only looks like an error', { name: 'SECRET', message: 'x' }, '_OTHER'],
])('the type of an error is %s', (_, thrown, type) => {
  expect(errorType(thrown)).toBe(type);
});
