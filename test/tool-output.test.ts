import type { ToolCall } from '@celestea/core';
import { expect, test } from 'vitest';

import { filedOutput, timedOutOutput } from '../src/tool-output.ts';

const call: ToolCall = { id: 'c1', name: 'get', args: {} };
const failed = (error: string) => ({
  ...{ call_id: 'c1', value: null, render: null, decision: null },
  error,
});

test('X13 a call that gave no output in time says so', () => {
  expect(timedOutOutput(call, 5)).toEqual(
    failed('timed out: the tool gave no result within 5 ms; its outcome is not known'),
  );
});

test.each<[name: string, error: unknown, text: string | null]>([
  ['none', null, null],
  ['none given', undefined, null],
  ['an empty text', '', 'the tool failed without saying why'],
  ['a long text, whole', 'x'.repeat(2001), 'x'.repeat(2001)],
  ['the text of a long Error, cut', new Error('x'.repeat(2001)), `${'x'.repeat(2000)}…`],
  ['what an object says', { message: 'no such file' }, 'no such file'],
  ['false', false, 'false'],
])('C4.5 L4.6 the error of a result that was filed: %s', (_, error, text) => {
  const diagnosed: string[] = [];
  const returned = { call_id: 'c1', value: 1, render: null, error, decision: null };
  const output = filedOutput(call, returned, {
    diagnose: (kind) => void diagnosed.push(kind),
  });
  expect(output).toStrictEqual({ ...returned, error: text });
  expect(diagnosed).toEqual([]);
});
