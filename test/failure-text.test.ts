import { LlmError } from '@celestea/core';
import { DefaultAgentLoop, defaultAgentConfig, type Diagnostic } from '@celestea/agent-loop';
import { failingLlm, testContext } from '@celestea/agent-loop/testing';
import { expect, test } from 'vitest';

import { failureText } from '../src/failure-text.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
const throwing = {
  get message(): string {
    throw new Error('no');
  },
};

test.each<[name: string, thrown: unknown, text: string]>([
  ['an Error', new Error('plain'), 'plain'],
  ['an Error with its cause', new TypeError('fetch failed', { cause: refused }), 'fetch failed (connect ECONNREFUSED 127.0.0.1:1)'],
  ['a cause it names itself', new Error('read: plain', { cause: new Error('plain') }), 'read: plain'],
  ['an AggregateError without a message', new AggregateError([refused], ''), 'connect ECONNREFUSED 127.0.0.1:1'],
  ['an Error without anything', new RangeError(''), 'RangeError'],
  ['an object with a message', { code: 1, message: 'no such file' }, 'no such file'],
  ["a provider's envelope", { error: { message: 'invalid key' } }, 'invalid key'],
  ['another object', { code: 7 }, '{"code":7}'],
  ['a text', 'torn', 'torn'],
  ['an empty text', '', 'no reason was given'],
  ['nothing', undefined, 'undefined'],
  ['a getter that throws', throwing, '[object Object]'],
  ['an AggregateError without a message, of two', new AggregateError([refused, new Error('b')], ''), 'connect ECONNREFUSED 127.0.0.1:1; b'],
  ['an AggregateError with a message, of two', new AggregateError([new Error('b'), new Error('c')], 'a'), 'a (b; c)'],
  ['a cause that is a text', new Error('a', { cause: 'torn' }), 'a (torn)'],
  ['a cause that is a number', new Error('a', { cause: 7 }), 'a (7)'],
  ['a cause that is null', new Error('a', { cause: null }), 'a'],
  ['an object with an empty message', { message: '' }, '{"message":""}'],
  ['an empty message beside an error', { message: '', error: 'torn' }, 'torn'],
  ['an object with a text of its own', { toString: () => 'told', message: 'not asked' }, 'told'],
  ['a text that reads like an object', '[object Object]', '[object Object]'],
  ['an error four deep', { error: { error: { error: 'torn' } } }, 'torn'],
  ['an error five deep', { error: { error: { error: { error: 'torn' } } } }, '{"error":"torn"}'],
])('L2.6 the reason of %s is told', (_, thrown, text) => {
  expect(failureText(thrown)).toBe(text);
});

test('a reason is bounded, and a circle of causes ends', () => {
  const circle = new Error('a');
  circle.cause = new Error('b', { cause: circle });
  expect(failureText(circle)).toBe('a (b (a (b)))');
  expect(failureText(new Error('x'.repeat(9000))).length).toBe(2001);
});

test.each<[name: string, of: (text: string) => unknown]>([
  ['text', (text) => text],
  ['an Error', (text) => new Error(text)],
])('a reason of 2000 characters is told whole, one of 2001 is cut: %s', (_, of) => {
  expect(failureText(of('x'.repeat(2000)))).toBe('x'.repeat(2000));
  expect(failureText(of('x'.repeat(2001)))).toBe(`${'x'.repeat(2000)}…`);
});

test('L2.6 X15 the outcome says why, and the error itself is diagnosed', async () => {
  const error = new LlmError('rate limited', 'generate', { httpStatus: 429, retryable: true });
  const diagnostics: Diagnostic[] = [];
  const outcome = await new DefaultAgentLoop(defaultAgentConfig()).runTurnOutcome(
    testContext({ llm: failingLlm(error) }),
    'hi',
    { onDiagnostic: (diagnostic) => diagnostics.push(diagnostic) },
  );
  expect(outcome).toEqual({ error: { kind: 'generate', message: 'rate limited' } });
  expect(diagnostics).toEqual([
    { kind: 'model_failed', message: 'the model gave no stream', error },
  ]);
});
