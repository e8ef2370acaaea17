import { expect, expectTypeOf, test } from 'vitest';

import {
  effectiveOutcome,
  isTurnOutcome,
  outcomeError,
  outcomeErrorParts,
  outcomePhase,
  type TurnOutcome,
  type TurnOutcomePhase,
} from '@celestea/core';

const failed = (kind: 'generate' | 'stream', message: string): TurnOutcome => ({
  error: { kind, message },
});

test('C4.1 the outcomes are a closed union of five', () => {
  expectTypeOf<TurnOutcome>().toEqualTypeOf<
    | 'completed'
    | 'cancelled'
    | { error: { kind: 'generate' | 'stream'; message: string } }
    | 'step_limit'
    | 'interrupted'
  >();
  expectTypeOf<TurnOutcomePhase>().toEqualTypeOf<
    'completed' | 'cancelled' | 'error' | 'step_limit' | 'interrupted'
  >();
});

test('C4.1 effectiveOutcome reads a missing outcome as completed and changes no other', () => {
  const error = failed('stream', 'm');
  expect(effectiveOutcome(undefined)).toBe('completed');
  expect(effectiveOutcome('cancelled')).toBe('cancelled');
  expect(effectiveOutcome('completed')).toBe('completed');
  expect(effectiveOutcome(error)).toBe(error);
});

test.each<[outcome: TurnOutcome, phase: string, text: string | null]>([
  ['completed', 'completed', null],
  ['cancelled', 'cancelled', null],
  ['step_limit', 'step_limit', null],
  ['interrupted', 'interrupted', null],
  [failed('generate', 'no key'), 'error', 'generate: no key'],
  [failed('stream', 'cut: off'), 'error', 'stream: cut: off'],
  [failed('stream', ''), 'error', 'stream: '],
])('C4.1 label and error text of %j', (outcome, phase, text) => {
  expect(outcomePhase(outcome)).toBe(phase);
  expect(outcomeError(outcome)).toBe(text);
});

test('C4.1 outcomeErrorParts gives kind and message, or null', () => {
  const parts = { kind: 'generate', message: 'no key' };
  expect(outcomeErrorParts(failed('generate', 'no key'))).toStrictEqual(parts);
  for (const outcome of ['completed', 'cancelled', 'step_limit', 'interrupted'] as const) {
    expect(outcomeErrorParts(outcome)).toBe(null);
  }
});

test('C4.1 isTurnOutcome takes the five and nothing else', () => {
  const good: unknown[] = [
    'completed',
    'cancelled',
    'step_limit',
    'interrupted',
    { error: { kind: 'generate', message: '' } },
    { error: { kind: 'stream', message: 'm' } },
  ];
  expect(good.map(isTurnOutcome)).toEqual([true, true, true, true, true, true]);
  const bad: unknown[] = [
    'error',
    'Completed',
    '',
    null,
    undefined,
    0,
    true,
    [],
    {},
    { error: null },
    { error: 'stream: m' },
    { error: {} },
    { error: { kind: 'stream' } },
    { error: { message: 'm' } },
    { error: { kind: 'timeout', message: 'm' } },
    { error: { kind: 'stream', message: null } },
    { error: { kind: 'stream', message: 5 } },
    { kind: 'stream', message: 'm' },
    Object('completed'),
    ['completed'],
  ];
  expect(bad.filter(isTurnOutcome)).toEqual([]);
});
