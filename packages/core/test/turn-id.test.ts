import fc from 'fast-check';
import { expect, test } from 'vitest';

import { formatTurnId, nextTurnNumber, parseTurnNumber, type SessionEvent } from '@celestea/core';

test('C4.3 formatTurnId', () => {
  expect([0, 1, 42, 9007199254740991].map(formatTurnId)).toEqual([
    'turn-0',
    'turn-1',
    'turn-42',
    'turn-9007199254740991',
  ]);
});

test.each<[id: string, n: number]>([
  ['turn-0', 0],
  ['turn-7', 7],
  ['turn-10', 10],
  ['turn-9007199254740991', 9007199254740991],
])('C4.3 parseTurnNumber reads %s', (id, n) => {
  expect(parseTurnNumber(id)).toBe(n);
});

test.each([
  'turn-9007199254740992',
  'turn-99999999999999999999999',
  'turn-00',
  'turn-01',
  'turn-007',
  'turn--1',
  'turn-+1',
  'turn-1.0',
  'turn-1e3',
  'turn-0x1',
  'turn-1_0',
  'turn-',
  'turn-a',
  'turn-1a',
  'turn- 1',
  'turn-1 ',
  ' turn-1',
  'turn-1\n',
  '\nturn-1',
  'x\nturn-1',
  'turn-1\nturn-2',
  'Turn-1',
  'turn1',
  'turn_1',
  'my-turn-1',
  'turn-1-1',
  'turn-\u0661',
  'turn-\uff11',
  '1',
  '',
])('C4.3 parseTurnNumber gives null for %j', (id) => {
  expect(parseTurnNumber(id)).toBe(null);
});

test('C4.3 parseTurnNumber undoes formatTurnId', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (n) => {
      expect(parseTurnNumber(formatTurnId(n))).toBe(n);
    }),
  );
});

const starts = (...ids: string[]): SessionEvent[] => ids.map((id) => ({ type: 'turn_start', id }));

test.each<[name: string, rows: SessionEvent[], next: number]>([
  ['no rows', [], 0],
  ['no turn', [{ type: 'user_message', text: 'turn-5' }], 0],
  ['one turn', starts('turn-0'), 1],
  ['the largest, wherever it stands', starts('turn-3', 'turn-11', 'turn-2'), 12],
  ['numbers, not texts', starts('turn-9', 'turn-10'), 11],
  ['a gap', starts('turn-0', 'turn-100'), 101],
  ['an end without its start', [{ type: 'turn_end', id: 'turn-4' }], 5],
  ['other forms', starts('turn-2', 'turn-007', 'turn-x', 'run-9', 'turn-9007199254740992'), 3],
  ['nothing but other forms', starts('abc', 'turn-01'), 0],
  ['ids of calls', [
    { type: 'turn_start', id: 'turn-1' },
    { type: 'tool_call', id: 'turn-8', name: 'n', args: null },
    { type: 'tool_result', id: 'turn-9', value: null, error: null },
  ], 2],
])('C4.2 C4.3 nextTurnNumber after %s', (_name, rows, next) => {
  expect(nextTurnNumber(rows)).toBe(next);
  expect(nextTurnNumber(new Set(rows))).toBe(next);
});
