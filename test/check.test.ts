import { describe, expect, test } from 'vitest';

import { assertLogValid, LogRuleError } from '@celestea/agent-loop/check';
import type { SessionEvent, TurnOutcome } from '@celestea/core';

const begin = (id = 'turn-0'): SessionEvent => ({ type: 'turn_start', id });
const finish = (outcome: TurnOutcome, id = 'turn-0'): SessionEvent => ({
  type: 'turn_end',
  id,
  outcome,
});
const user: SessionEvent = { type: 'user_message', text: 'go' };
const reply: SessionEvent = { type: 'assistant_message', text: 'hi' };
const words: SessionEvent = { type: 'assistant_message', text: 'Let me see.', calls_follow: true };
const thought: SessionEvent = { type: 'thinking_delta', text: 'hm' };
const asks = (id: string, more: object = {}): SessionEvent => ({
  type: 'tool_call',
  id,
  name: 'time',
  args: null,
  ...more,
});
const answers = (id: string, more: object = {}): SessionEvent => ({
  type: 'tool_result',
  id,
  value: 1,
  error: null,
  ...more,
});

/** Logs that break one rule, and the row at which it is found. */
const broken: { rule: string; index: number; what: string; rows: SessionEvent[] }[] = [
  { rule: 'L2.2', index: 0, what: 'a row before any turn', rows: [user] },
  { rule: 'L2.2', index: 0, what: 'an end before any turn', rows: [finish('cancelled')] },
  {
    rule: 'L2.2',
    index: 2,
    what: 'a row after the end',
    rows: [begin(), finish('cancelled'), reply],
  },
  {
    rule: 'L2.4',
    index: 2,
    what: 'a turn inside a turn',
    rows: [begin(), user, begin('turn-1'), finish('cancelled', 'turn-1')],
  },
  {
    rule: 'L2.4',
    index: 1,
    what: 'the end of another turn',
    rows: [begin(), finish('cancelled', 'turn-1')],
  },
  { rule: 'L2.4', index: 2, what: 'no end', rows: [begin(), user] },
  {
    rule: 'L2.2',
    index: 2,
    what: 'two ends',
    rows: [begin(), finish('cancelled'), finish('cancelled')],
  },
  {
    rule: 'C4.2',
    index: 2,
    what: 'an id used twice',
    rows: [begin(), finish('cancelled'), begin(), finish('cancelled')],
  },
  {
    rule: 'L3.2',
    index: 1,
    what: 'an empty thinking row',
    rows: [begin(), { type: 'thinking_delta', text: '' }, finish('cancelled')],
  },
  {
    rule: 'L4.2',
    index: 2,
    what: 'completed without a reply',
    rows: [begin(), user, finish('completed')],
  },
  {
    rule: 'L4.2',
    index: 1,
    what: 'no outcome, which reads completed, without a reply',
    rows: [begin(), { type: 'turn_end', id: 'turn-0' }],
  },
  {
    rule: 'L4.2',
    index: 3,
    what: 'completed with a row after the reply',
    rows: [begin(), reply, thought, finish('completed')],
  },
  {
    rule: 'L4.4',
    index: 2,
    what: 'a call without a result at the end',
    rows: [begin(), asks('a'), finish('cancelled')],
  },
  ...[user, reply, thought].map((row) => ({
    rule: 'L4.4',
    index: 2,
    what: `a call without a result before ${row.type}`,
    rows: [begin(), asks('a'), row, answers('a'), finish('cancelled')],
  })),
  {
    rule: 'L4.4',
    index: 4,
    what: 'a call before all results of the step before',
    rows: [begin(), asks('a'), asks('b'), answers('a'), asks('c')],
  },
  {
    rule: 'L4.4',
    index: 3,
    what: 'results in another order than the calls',
    rows: [begin(), asks('a'), asks('b'), answers('b'), answers('a'), finish('cancelled')],
  },
  {
    rule: 'L4.4',
    index: 1,
    what: 'a result without a call',
    rows: [begin(), answers('a'), finish('cancelled')],
  },
  {
    rule: 'L4.4',
    index: 3,
    what: 'two results for a call',
    rows: [begin(), asks('a'), answers('a'), answers('a'), finish('cancelled')],
  },
  ...[user, thought, reply, finish('completed'), finish('cancelled')].map((row) => ({
    rule: 'X9',
    index: 2,
    what: `words with calls to follow, and then ${row.type}`,
    rows: [begin(), words, row, asks('a'), answers('a'), finish('cancelled')],
  })),
  {
    rule: 'X9',
    index: 2,
    what: 'a call after words without calls_follow',
    rows: [begin(), reply, asks('a'), answers('a'), finish('cancelled')],
  },
  {
    rule: 'X9',
    index: 3,
    what: 'a call after a reply and some thinking',
    rows: [begin(), reply, thought, asks('a'), answers('a'), finish('cancelled')],
  },
  {
    rule: 'X9',
    index: 2,
    what: 'a second reply in a step',
    rows: [begin(), reply, reply, finish('completed')],
  },
  {
    rule: 'L4.2',
    index: 4,
    what: 'completed with no reply in its own turn',
    rows: [begin(), reply, finish('completed'), begin('turn-1'), finish('completed', 'turn-1')],
  },
  ...[{ value: 1 }, { value: 1, error: 'x' }, { value: 0, error: 'x' }].map((more) => ({
    rule: 'X17',
    index: 2,
    what: `abandoned with ${JSON.stringify(more)}`,
    rows: [begin(), asks('a'), answers('a', { abandoned: true, ...more }), finish('cancelled')],
  })),
  ...[null, ''].map((error) => ({
    rule: 'X17',
    index: 2,
    what: `abandoned with the error ${JSON.stringify(error)}`,
    rows: [
      begin(),
      asks('a'),
      answers('a', { abandoned: true, value: null, error }),
      finish('cancelled'),
    ],
  })),
];

const step = [asks('a'), asks('b'), answers('a'), answers('b')];
const valid: { what: string; rows: SessionEvent[] }[] = [
  { what: 'an empty log', rows: [] },
  { what: 'a turn in words', rows: [begin(), user, thought, reply, finish('completed')] },
  { what: 'an end without an outcome', rows: [begin(), reply, { type: 'turn_end', id: 'turn-0' }] },
  {
    what: 'steps, one after the other',
    rows: [begin(), user, thought, ...step, ...step, thought, reply, finish('completed')],
  },
  {
    what: 'two turns, the first without a reply',
    rows: [begin(), ...step, finish('step_limit'), begin('turn-1'), finish('cancelled', 'turn-1')],
  },
  {
    what: 'words before calls, in every step',
    rows: [begin(), user, thought, words, ...step, words, ...step, reply, finish('completed')],
  },
  {
    what: 'audit rows between words and their calls',
    rows: [
      begin(),
      words,
      asks('x', { parent_id: 'p' }),
      answers('x', { parent_id: 'p', abandoned: true, value: 1 }),
      asks('a'),
      answers('a'),
      finish('step_limit'),
    ],
  },
  {
    what: 'words whose calls a broken log refused',
    rows: [begin(), words, finish({ error: { kind: 'generate', message: 'disk full' } })],
  },
  {
    what: 'a reply, a message that came in, and more steps',
    rows: [begin(), user, reply, user, user, ...step, words, ...step, reply, finish('completed')],
  },
  {
    what: 'a call that was abandoned beside one that never ran',
    rows: [
      begin(),
      asks('a'),
      asks('b'),
      answers('a', { value: null, error: 'cancelled', abandoned: true }),
      answers('b', { value: null, error: 'cancelled' }),
      finish('cancelled'),
    ],
  },
  {
    what: 'reasoning without words that its provider signed',
    rows: [
      begin(),
      { type: 'thinking_delta', text: '', meta: { redacted: 'b64' } },
      reply,
      finish('completed'),
    ],
  },
  {
    what: 'audit rows anywhere',
    rows: [
      asks('x', { parent_id: 'p' }),
      begin(),
      asks('a'),
      asks('y', { parent_id: 'a' }),
      answers('y', { parent_id: 'a' }),
      answers('a'),
      reply,
      answers('z', { parent_id: 'a' }),
      finish('completed'),
    ],
  },
];

describe('the log checker', () => {
  test.each(broken)('X16 assertLogValid names $rule: $what', ({ rule, index, rows }) => {
    let thrown: unknown;
    try {
      assertLogValid(rows);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(LogRuleError);
    expect(thrown).toMatchObject({ name: 'LogRuleError', rule, index });
    expect(String(thrown)).toContain(`${rule}, row ${String(index)}: `);
  });

  test.each(valid)('X16 assertLogValid takes $what', ({ rows }) => {
    assertLogValid(rows);
    assertLogValid(rows, { openTurn: true });
  });

  test('X16 X9 with openTurn the calls may still be due', () => {
    assertLogValid([begin(), words], { openTurn: true });
    expect(() => {
      assertLogValid([begin(), words]);
    }).toThrow('L2.4, row 2');
  });

  test.each([[undefined], [null], ['rows'], [{}]])('X16 %j is no log', (rows) => {
    expect(() => {
      assertLogValid(rows as unknown as SessionEvent[]);
    }).toThrow(/^rows: expected an array of session rows, got /);
  });

  test('X16 with openTurn the last turn may still run, and only that', () => {
    assertLogValid([begin(), user, asks('a')], { openTurn: true });
    assertLogValid([begin()], { openTurn: true });
    expect(() => {
      assertLogValid([begin(), begin('turn-1')], { openTurn: true });
    }).toThrow(LogRuleError);
  });
});
