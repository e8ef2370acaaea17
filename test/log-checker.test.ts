import { describe, expect, test } from 'vitest';

import { assertLogValid, LogRuleError } from '@celestea/agent-loop/testing';
import type { SessionEvent, TurnOutcome } from '@celestea/core';

const begin = (id = 'turn-0'): SessionEvent => ({ type: 'turn_start', id });
const finish = (outcome: TurnOutcome, id = 'turn-0'): SessionEvent => ({
  type: 'turn_end',
  id,
  outcome,
});
const user: SessionEvent = { type: 'user_message', text: 'go' };
const reply: SessionEvent = { type: 'assistant_message', text: 'hi' };
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

  test('X16 with openTurn the last turn may still run, and only that', () => {
    assertLogValid([begin(), user, asks('a')], { openTurn: true });
    assertLogValid([begin()], { openTurn: true });
    expect(() => {
      assertLogValid([begin(), begin('turn-1')], { openTurn: true });
    }).toThrow(LogRuleError);
  });
});
