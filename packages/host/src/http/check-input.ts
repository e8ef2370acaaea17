import { describeValue } from '@celestea/core';
import type { z } from 'zod';

import type { WireIssue } from '../wire.ts';
import { ApiError } from './api-error.ts';

type Issue = z.core.$ZodIssue;

/** Only the first of what is wrong is told; a program that is wrong everywhere needs no more. */
const MAX_ISSUES = 10;
const MAX_NAME = 40;

/**
 * What came, as its schema says it has to be.
 *
 * @param where what a message calls it: `body` or `query`.
 * @param redact takes the token out of a name before it is cut, so that no part of it is left.
 * @throws ApiError `invalid`, which says which field, what was expected and what came.
 */
export function checkInput<T>(
  schema: z.ZodType<T>,
  value: unknown,
  where: string,
  redact: (text: string) => string,
): T {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  const issues = result.error.issues.flatMap((issue) => describe(issue, where, redact));
  const [first] = issues;
  const { field, expected, came } = first ?? { field: where, expected: 'another one', came: '' };
  const message = `${field}: expected ${expected}, got ${came}`;
  throw new ApiError('invalid', message, { details: { issues: issues.slice(0, MAX_ISSUES) } });
}

function describe(
  issue: Issue,
  where: string,
  redact: (text: string) => string,
): WireIssue[] {
  const field = [where, ...issue.path.map(String)].join('.');
  if (issue.code !== 'unrecognized_keys') {
    return [{ field, expected: expectedBy(issue), came: describeValue(issue.input) }];
  }
  const keys = issue.keys.slice(0, MAX_ISSUES).map(redact);
  return keys.map((key) => ({
    field: `${field}.${key.length > MAX_NAME ? `${key.slice(0, MAX_NAME)}…` : key}`,
    expected: 'no such field',
    came: 'one',
  }));
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  object: 'an object',
  int: 'a whole number',
  number: 'a whole number', // no request has any other
};

function expectedBy(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'too_big':
      return `at most ${String(issue.maximum)}${unitOf(issue.origin)}`;
    case 'too_small':
      return `at least ${String(issue.minimum)}${unitOf(issue.origin)}`;
    default:
      return issue.message;
  }
}

const unitOf = (origin: string): string => (origin === 'string' ? ' characters' : '');
