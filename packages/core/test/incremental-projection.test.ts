import fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  CANCELLED_TOOL_CALL_TEXT,
  deriveMessagesFrom,
  IncrementalProjection,
  type Content,
  type Message,
  type SessionEvent,
} from '@celestea/core';

/** C4.5 as it is written: what every row becomes, with calls merged. */
function project(rows: SessionEvent[]): Message[] {
  const seen = rows.filter((row) => {
    if (row.type === 'tool_call' || row.type === 'tool_result') return row.parent_id === undefined;
    return row.type === 'user_message' || row.type === 'assistant_message';
  });
  const messages: Message[] = [];
  let merging: Content[] | null = null;
  for (const row of seen) {
    if (row.type === 'tool_call') {
      if (merging === null) {
        merging = [];
        messages.push({ role: 'assistant', content: merging, tool_call_id: null });
      }
      const content = { id: row.id, name: row.name, args: row.args };
      merging.push({ type: 'tool_call', content });
      continue;
    }
    merging = null;
    if (row.type === 'tool_result') {
      const content = row.error ? `Error: ${row.error}` : JSON.stringify(row.value);
      messages.push({
        role: 'tool',
        content: [{ type: 'text', content }],
        tool_call_id: row.id,
      });
    } else if (row.type === 'user_message' || row.type === 'assistant_message') {
      messages.push({
        role: row.type === 'user_message' ? 'user' : 'assistant',
        content: [{ type: 'text', content: row.text }],
        tool_call_id: null,
      });
    }
  }
  return messages;
}

const idsOf = (message: Message): string[] =>
  message.content.flatMap((block) => (block.type === 'tool_call' ? [block.content.id] : []));

/** C4.6 as it is written: for every call, the answers that are its own. */
function balance(messages: Message[]): Message[] {
  const answersOf = new Map<Message, Message[]>();
  messages.forEach((message, at) => {
    if (message.role !== 'tool') return;
    const owner = messages
      .slice(0, at)
      .findLast((other) => idsOf(other).includes(message.tool_call_id ?? ''));
    if (owner !== undefined) answersOf.set(owner, [...(answersOf.get(owner) ?? []), message]);
  });
  return messages
    .filter((message) => message.role !== 'tool')
    .flatMap((message) => {
      const answers = [...(answersOf.get(message) ?? [])];
      const seats = idsOf(message).map((id): Message => {
        const at = answers.findIndex((answer) => answer.tool_call_id === id);
        const [answer] = at < 0 ? [] : answers.splice(at, 1);
        if (answer !== undefined) return answer;
        const content = CANCELLED_TOOL_CALL_TEXT;
        return { role: 'tool', content: [{ type: 'text', content }], tool_call_id: id };
      });
      return [message, ...seats];
    });
}

const id = fc.constantFrom('a', 'b', 'c');
const words = fc.constantFrom('', 'x', 'y');
const parent = fc.option(fc.constant('p'), { nil: undefined, freq: 5 });

const anyRow: fc.Arbitrary<SessionEvent> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<SessionEvent>({ type: 'turn_start', id: 'turn-0' }) },
  { weight: 1, arbitrary: fc.constant<SessionEvent>({ type: 'turn_end', id: 'turn-0' }) },
  { weight: 1, arbitrary: words.map((text): SessionEvent => ({ type: 'thinking_delta', text })) },
  { weight: 1, arbitrary: words.map((text): SessionEvent => ({ type: 'user_message', text })) },
  {
    weight: 1,
    arbitrary: words.map((text): SessionEvent => ({ type: 'assistant_message', text })),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(id, fc.nat(9), parent)
      .map(([call, args, parent_id]): SessionEvent => ({
        type: 'tool_call',
        id: call,
        name: 'n',
        args,
        ...(parent_id === undefined ? {} : { parent_id }),
      })),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        fc.oneof(id, fc.constant('stranger')),
        fc.nat(9),
        fc.constantFrom(null, '', 'e'),
        parent,
      )
      .map(([call, value, error, parent_id]): SessionEvent => ({
        type: 'tool_result',
        id: call,
        value,
        error,
        ...(parent_id === undefined ? {} : { parent_id }),
      })),
  },
);

test('C4.5 C4.6 C4.7 after every row both projections and the rule say the same', () => {
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
    { numRuns: 150 },
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
