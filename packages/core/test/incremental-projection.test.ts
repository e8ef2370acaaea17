import fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  deriveMessagesFrom,
  IncrementalProjection,
  type Message,
  type SessionEvent,
  type ToolResultRow,
} from '@celestea/core';

import { balance, idsOf, project, surfaced } from './reference-projection.ts';
import { row, type } from './support.ts';

const id = fc.constantFrom('a', 'b', 'c');
const words = fc.constantFrom('', 'x', 'y');
const meta = fc.constantFrom(null, 0, 'sig', { signature: 's' });
const yes = fc.constant(true as const);
const turnFields = { id: fc.constant('turn-0') };
const callFields = { type: type('tool_call'), id, name: fc.constant('n'), args: fc.nat(9), meta };
const nested = { parent_id: fc.constant('p') };
const shown = surfaced.map(({ value, surface }) => ({ value, surface }));
const bare = row({ value: fc.constantFrom<unknown>(0, 1, 2, 3, '', null) }, ['value']);

const result: fc.Arbitrary<ToolResultRow> = fc
  .tuple(
    row(
      {
        type: type('tool_result'),
        id: fc.oneof(id, fc.constant('stranger')),
        error: fc.constantFrom(null, null, '', 'e'),
      },
      ['type', 'id', 'error'],
    ),
    fc.oneof({ weight: 5, arbitrary: bare }, fc.constantFrom(...shown)),
    fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, row({ abandoned: yes }, ['abandoned'])),
  )
  .map(([fields, value, abandoned]) => ({ ...fields, ...value, ...abandoned }));

const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });

const anyRow: fc.Arbitrary<SessionEvent> = fc.oneof(
  weighted(1, row({ type: type('turn_start'), ...turnFields }, ['type', 'id'])),
  weighted(1, row({ type: type('turn_end'), ...turnFields }, ['type', 'id'])),
  weighted(1, row({ type: type('user_message'), text: words }, ['type', 'text'])),
  weighted(
    3,
    row({ type: type('assistant_message'), text: words, calls_follow: yes }, ['type', 'text']),
  ),
  weighted(3, row({ type: type('thinking_delta'), text: words, meta }, ['type', 'text'])),
  weighted(5, row(callFields, ['type', 'id', 'name', 'args'])),
  weighted(1, row({ ...callFields, ...nested }, ['type', 'id', 'name', 'args', 'parent_id'])),
  weighted(5, result),
  weighted(
    1,
    result.map((answer): ToolResultRow => ({ ...answer, parent_id: 'p' })),
  ),
);

test('X9 X10 the rows of these properties make messages of every mix', () => {
  const seen = new Set<string>();
  for (const rows of fc.sample(fc.array(anyRow, { maxLength: 30, size: 'max' }), {
    numRuns: 1000,
    seed: 1,
  })) {
    for (const { content } of deriveMessagesFrom(rows)) {
      seen.add([...new Set(content.map((block) => block.type))].join(' '));
    }
  }
  expect([...seen].sort()).toEqual(
    [
      'text',
      'text tool_call',
      'thinking text',
      'thinking text tool_call',
      'thinking tool_call',
      'tool_call',
    ].sort(),
  );
});

test('C4.5 C4.6 C4.7 X9 X10 X12 X17 after every row both projections and the rule agree', () => {
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 30, size: 'max' }), (rows) => {
      const projection = new IncrementalProjection();
      let before: Message[] = [];
      rows.forEach((row, at) => {
        projection.append(row);
        const now = projection.messages();
        const prefix = rows.slice(0, at + 1);
        expect(now).toEqual(balance(project(prefix)));
        expect(now).toEqual(deriveMessagesFrom(prefix));
        before.forEach((message, index) => {
          if (JSON.stringify(message) !== JSON.stringify(now[index])) return;
          expect(now[index]).toBe(message);
        });
        before = now;
      });
    }),
    { numRuns: 400 },
  );
});

test('C4.7 it does not matter when somebody looks', () => {
  const script = fc.array(fc.tuple(anyRow, fc.boolean()), { maxLength: 40, size: 'max' });
  fc.assert(
    fc.property(script, (steps) => {
      const projection = new IncrementalProjection();
      const handed: [messages: Message[], text: string][] = [];
      for (const [row, look] of steps) {
        projection.append(row);
        if (!look) continue;
        const messages = projection.messages();
        handed.push([messages, JSON.stringify(messages)]);
      }
      expect(projection.messages()).toEqual(balance(project(steps.map(([row]) => row))));
      for (const [messages, text] of handed) expect(JSON.stringify(messages)).toBe(text);
    }),
    { numRuns: 200 },
  );
});

test('C4.6 no unbalanced message survives at any position', () => {
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 40, size: 'max' }), (rows) => {
      const messages = deriveMessagesFrom(rows);
      let expected: string[] = [];
      for (const message of messages) {
        if (message.role === 'tool') expect(message.tool_call_id).toBe(expected.shift());
        else {
          expect(expected).toEqual([]);
          expected = idsOf(message);
        }
      }
      expect(expected).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

test('C4.7 a new projection is empty, and rows the model never sees leave it so', () => {
  const projection = new IncrementalProjection();
  expect(projection.messages()).toEqual([]);
  projection.append({ type: 'turn_start', id: 'turn-0' });
  projection.append({ type: 'thinking_delta', text: 'hm' });
  expect(projection.messages()).toEqual([]);
});

test('C4.7 two looks without a row between give the same objects', () => {
  const projection = new IncrementalProjection();
  projection.append({ type: 'user_message', text: 'go' });
  projection.append({ type: 'tool_call', id: 'a', name: 'n', args: 1 });
  const first = projection.messages();
  const second = projection.messages();
  expect(first).toHaveLength(3);
  expect(second).not.toBe(first);
  second.forEach((message, index) => {
    expect(message).toBe(first[index]);
  });
});

test('C4.7 a late answer leaves every other message the same object', () => {
  const projection = new IncrementalProjection();
  projection.append({ type: 'tool_call', id: 'a', name: 'n', args: 1 });
  projection.append({ type: 'tool_call', id: 'b', name: 'n', args: 1 });
  projection.append({ type: 'user_message', text: 'wait' });
  const before = projection.messages();
  projection.append({ type: 'tool_result', id: 'b', value: 2, error: null });
  const after = projection.messages();
  expect(after).toHaveLength(4);
  expect(after.map((message, index) => message === before[index])).toEqual([
    true,
    true,
    false,
    true,
  ]);
});

/** A row that counts how often any of its fields is read. */
function counted(row: SessionEvent, reads: { count: number }): SessionEvent {
  return new Proxy(row, {
    get(target, key, receiver) {
      reads.count += 1;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
}

test('C4.7 an append reads the new row alone, however long the log is', () => {
  const reads = { count: 0 };
  const projection = new IncrementalProjection();
  const rows: SessionEvent[] = Array.from({ length: 400 }, (_, index) => [
    { type: 'user_message' as const, text: 'go' },
    { type: 'tool_call' as const, id: String(index), name: 'n', args: 1 },
    { type: 'tool_result' as const, id: String(index), value: 1, error: null },
  ]).flat();
  for (const row of rows) projection.append(counted(row, reads));
  projection.messages();
  reads.count = 0;
  const late = { count: 0 };
  projection.append(counted({ type: 'user_message', text: 'now' }, late));
  expect(projection.messages()).toHaveLength(1201);
  expect(reads.count).toBe(0);
  expect(late.count).toBeGreaterThan(0);
  expect(late.count).toBeLessThan(20);
});

test('C4.7 a value is turned into text once, however often somebody looks', () => {
  let converted = 0;
  const value = {
    toJSON: () => {
      converted += 1;
      return 'x';
    },
  };
  const projection = new IncrementalProjection();
  projection.append({ type: 'tool_call', id: 'a', name: 'n', args: 1 });
  projection.append({ type: 'tool_result', id: 'a', value, error: null });
  for (let look = 0; look < 5; look += 1) {
    projection.messages();
    projection.append({ type: 'user_message', text: 'go' });
  }
  expect(converted).toBe(1);
});
