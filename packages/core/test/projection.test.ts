import { expect, test } from 'vitest';

import {
  CANCELLED_TOOL_CALL_TEXT,
  deriveMessagesFrom,
  IncrementalProjection,
  Message,
  type SessionEvent,
  type ToolCall,
} from '@celestea/core';

import { picture } from './support.ts';

const user = (text: string): SessionEvent => ({ type: 'user_message', text });
const said = (text: string): SessionEvent => ({ type: 'assistant_message', text });
const thought: SessionEvent = { type: 'thinking_delta', text: 'hm' };
const start: SessionEvent = { type: 'turn_start', id: 'turn-0' };
const end: SessionEvent = { type: 'turn_end', id: 'turn-0', outcome: 'completed' };
const call = (id: string): SessionEvent => ({ type: 'tool_call', id, name: 'n', args: { id } });
const nestedCall = (id: string): SessionEvent => ({
  type: 'tool_call',
  id,
  name: 'n',
  args: null,
  parent_id: 'p',
});
const result = (id: string, value: unknown, error: string | null = null): SessionEvent => ({
  type: 'tool_result',
  id,
  value,
  error,
});
const nestedResult = (id: string): SessionEvent => ({
  type: 'tool_result',
  id,
  value: 'nested',
  error: null,
  parent_id: 'p',
});

/** One assistant message with a block for each id. */
const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  content: ids.map((id): { type: 'tool_call'; content: ToolCall } => ({
    type: 'tool_call',
    content: { id, name: 'n', args: { id } },
  })),
  tool_call_id: null,
});
const answer = (id: string, text: string): Message => Message.toolResult(id, text);
const cancelled = (id: string): Message => answer(id, CANCELLED_TOOL_CALL_TEXT);

test.each<[name: string, rows: SessionEvent[], messages: Message[]]>([
  ['nothing', [], []],
  ['only rows the model never sees', [start, thought, end, start], []],
  ['words', [start, user('hi'), thought, said('yes'), end],
    [Message.user('hi'), Message.assistantText('yes')]],
  ['empty words', [user(''), said('')], [Message.user('')]],
  ['one step with two calls', [user('go'), call('a'), call('b'), result('a', 1), result('b', 2)],
    [Message.user('go'), calls('a', 'b'), answer('a', '1'), answer('b', '2')]],
  ['calls flushed by an answer, then new calls',
    [call('a'), result('a', 1), call('b'), result('b', 2)],
    [calls('a'), answer('a', '1'), calls('b'), answer('b', '2')]],
  ['calls flushed by a user message', [call('a'), user('stop'), call('b')],
    [calls('a'), cancelled('a'), Message.user('stop'), calls('b'), cancelled('b')]],
  ['calls flushed by an assistant message', [call('a'), said('well'), call('b')],
    [calls('a'), cancelled('a'), Message.assistantText('well'), calls('b'), cancelled('b')]],
  ['calls flushed at the end', [call('a'), call('b')],
    [calls('a', 'b'), cancelled('a'), cancelled('b')]],
  ['words before calls as a message of their own', [said('let me'), call('a'), result('a', 1)],
    [Message.assistantText('let me'), calls('a'), answer('a', '1')]],
  ['calls merged across rows the model never sees',
    [call('a'), thought, call('b'), end, start, call('c'), result('b', 2)],
    [calls('a', 'b', 'c'), cancelled('a'), answer('b', '2'), cancelled('c')]],
  ['calls merged across nested rows',
    [call('a'), nestedCall('x'), nestedResult('x'), call('b'), result('a', 1)],
    [calls('a', 'b'), answer('a', '1'), cancelled('b')]],
  ['nested rows left out, the call and the result',
    [nestedCall('x'), nestedResult('x'), user('hi'), nestedResult('y')], [Message.user('hi')]],
  ['a nested result that has the id of an open call', [call('a'), nestedResult('a')],
    [calls('a'), cancelled('a')]],
  ['a nested call that has the id of an open call',
    [call('a'), nestedCall('a'), result('a', 1)], [calls('a'), answer('a', '1')]],
  ['consecutive turns',
    [start, user('1'), call('a'), result('a', 1), said('x'), end, start, user('2'), said('y'), end],
    [Message.user('1'), calls('a'), answer('a', '1'), Message.assistantText('x'),
      Message.user('2'), Message.assistantText('y')]],
  ['a turn cut in a step, then another', [user('1'), call('a'), call('b'), result('a', 1), end,
    start, user('2'), said('y')],
  [Message.user('1'), calls('a', 'b'), answer('a', '1'), cancelled('b'), Message.user('2'),
    Message.assistantText('y')]],
])('C4.5 derives %s', (_name, rows, messages) => {
  expect(deriveMessagesFrom(rows)).toStrictEqual(messages);
  expect(deriveMessagesFrom(new Set(rows))).toStrictEqual(messages);
});

test.each<[name: string, value: unknown, error: string | null, text: string]>([
  ['the JSON text of a value', { b: 1, a: [1e21, undefined] }, null, '{"a":[1e21,null],"b":1}'],
  ['a text as JSON, with its quotes', 'plain', null, '"plain"'],
  ['null', null, null, 'null'],
  ['undefined as null', undefined, null, 'null'],
  ['the error in place of the value', { a: 1 }, 'no such file', 'Error: no such file'],
  ['an error with its own Error:', null, 'Error: x', 'Error: Error: x'],
  ['a blank error', 1, ' ', 'Error:  '],
  ['the value when the error is empty', { a: 1 }, '', '{"a":1}'],
])('C4.5 the text of a tool result: %s', (_name, value, error, text) => {
  expect(deriveMessagesFrom([call('a'), result('a', value, error)])[1]).toStrictEqual(
    answer('a', text),
  );
});

test('C4.5 pictures of a user message stand after its text', () => {
  const attachments = [picture(1), picture(2)];
  expect(deriveMessagesFrom([{ type: 'user_message', text: 'hi', attachments }])).toStrictEqual([
    Message.userWithImages('hi', [picture(1), picture(2)]),
  ]);
  expect(deriveMessagesFrom([{ type: 'user_message', text: 'hi', attachments: [] }])).toStrictEqual(
    [Message.user('hi')],
  );
});

test('C4.5 pictures of a value stand after the text of its result, an error too', () => {
  const value = { attachments: [picture(1), picture(2)] };
  const text =
    `{"attachments":[{"attachment_id":"${'0'.repeat(63)}1","height":480,` +
    `"media_type":"image/png","width":640},{"attachment_id":"${'0'.repeat(63)}2",` +
    '"height":480,"media_type":"image/png","width":640}]}';
  const images = [picture(1), picture(2)];
  expect(deriveMessagesFrom([call('a'), result('a', value)])[1]).toStrictEqual(
    Message.toolResultWithImages('a', text, images),
  );
  expect(deriveMessagesFrom([call('a'), result('a', value, 'cut')])[1]).toStrictEqual(
    Message.toolResultWithImages('a', 'Error: cut', images),
  );
});

const imagesOf = (value: unknown): unknown[] =>
  deriveMessagesFrom([call('a'), result('a', value)])[1]?.content.slice(1) ?? [];

const raise = (): never => {
  throw new Error('hostile');
};

test.each<[name: string, value: unknown]>([
  ['no list', { attachments: picture(1) }],
  ['no objects', { attachments: ['a', null, 5, []] }],
  ['of another kind', { attachments: [{ ...picture(1), media_type: 'text/html' }] }],
  ['without size', { attachments: [{ ...picture(1), width: NaN }] }],
  ['deeper in the value', { inner: { attachments: [picture(1)] } }],
  ['in an array', [{ attachments: [picture(1)] }]],
])('C4.5 attachments %s are no pictures', (_name, value) => {
  expect(imagesOf(value)).toEqual([]);
});

test('C4.5 what is no picture spoils nothing beside it, and only known fields are taken', () => {
  const odd = { ...picture(2), data: 'AAAA', name: 'n' };
  expect(imagesOf({ attachments: [null, picture(1), { x: 1 }, odd] })).toStrictEqual([
    { type: 'image', content: picture(1) },
    { type: 'image', content: { ...picture(2), name: 'n' } },
  ]);
});

test('C4.5 C6.1 a list of attachments that is nearly all holes costs no more than it holds', () => {
  const attachments: unknown[] = [];
  attachments[4294967294] = picture(1);
  expect(imagesOf({ attachments })).toStrictEqual([{ type: 'image', content: picture(1) }]);
});

test('C4.5 hostile values of a tool still make a message', () => {
  const value: Record<string, unknown> = { big: 1n, get bad() { return raise(); } };
  value['self'] = value;
  expect(deriveMessagesFrom([call('a'), result('a', value)])[1]).toStrictEqual(
    answer('a', '{"bad":null,"big":1,"self":null}'),
  );
});

test('C4.5 C4.6 derived messages are fresh arrays', () => {
  const rows = [user('a')];
  const derived = deriveMessagesFrom(rows);
  derived.pop();
  expect(deriveMessagesFrom(rows)).toHaveLength(1);
  const projection = new IncrementalProjection();
  projection.append(user('a'));
  projection.messages().pop();
  expect(projection.messages()).toStrictEqual([Message.user('a')]);
});

test.each<[name: string, rows: SessionEvent[], messages: Message[]]>([
  ['a late answer', [call('a'), user('wait'), result('a', 1)],
    [calls('a'), answer('a', '1'), Message.user('wait')]],
  ['a late answer of an earlier turn',
    [call('a'), end, start, user('2'), call('b'), result('b', 2), result('a', 1)],
    [calls('a'), answer('a', '1'), Message.user('2'), calls('b'), answer('b', '2')]],
  ['answers out of order', [call('a'), call('b'), result('b', 2), result('a', 1)],
    [calls('a', 'b'), answer('a', '1'), answer('b', '2')]],
  ['an orphan', [user('hi'), result('a', 1)], [Message.user('hi')]],
  ['a result before its call', [result('a', 1), call('a')], [calls('a'), cancelled('a')]],
  ['a second answer', [call('a'), result('a', 1), result('a', 2)], [calls('a'), answer('a', '1')]],
  ['an id used again', [call('a'), result('a', 1), call('a'), result('a', 2)],
    [calls('a'), answer('a', '1'), calls('a'), answer('a', '2')]],
  ['an id twice in one step', [call('a'), call('a'), result('a', 1), result('a', 2)],
    [calls('a', 'a'), answer('a', '1'), answer('a', '2')]],
])('C4.6 deriveMessagesFrom includes the balance: %s', (_name, rows, messages) => {
  expect(deriveMessagesFrom(rows)).toStrictEqual(messages);
});
