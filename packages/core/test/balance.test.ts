import { expect, test } from 'vitest';

import { balanceToolCalls, CANCELLED_TOOL_CALL_TEXT, Message, type Content } from '@celestea/core';

import { deepFreeze } from './support.ts';

const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  content: ids.map((id): Content => ({ type: 'tool_call', content: { id, name: 'n', args: 1 } })),
  tool_call_id: null,
});
const answer = (id: string, text: string): Message => Message.toolResult(id, text);
const cancelled = (id: string): Message => answer(id, CANCELLED_TOOL_CALL_TEXT);
const hi = Message.user('hi');
const yes = Message.assistantText('yes');

test.each([5, null, undefined])('C4.6 a call whose id is %s has an answer, too', (id) => {
  const odd = calls(id as unknown as string);
  expect(balanceToolCalls([odd])).toEqual([odd, cancelled(id as unknown as string)]);
});

test('C4.6 the text of a cancelled call', () => {
  expect(CANCELLED_TOOL_CALL_TEXT.startsWith('Error:')).toBe(true);
  expect(CANCELLED_TOOL_CALL_TEXT).toMatch(/this .*call was cancelled/);
  expect(CANCELLED_TOOL_CALL_TEXT).toMatch(/outcome is not known/);
});

test.each<[name: string, messages: Message[], balanced: Message[]]>([
  ['nothing is left as nothing', [], []],
  ['what is balanced stays', [hi, calls('a', 'b'), answer('a', '1'), answer('b', '2'), yes],
    [hi, calls('a', 'b'), answer('a', '1'), answer('b', '2'), yes]],
  ['system messages stay', [Message.system('s'), hi], [Message.system('s'), hi]],
  ['a missing answer is synthesised', [calls('a'), hi], [calls('a'), cancelled('a'), hi]],
  ['a missing answer at the end is synthesised', [hi, calls('a')],
    [hi, calls('a'), cancelled('a')]],
  ['missing answers are synthesised in call order', [calls('b', 'a', 'c'), hi],
    [calls('b', 'a', 'c'), cancelled('b'), cancelled('a'), cancelled('c'), hi]],
  ['a missing answer between others', [calls('a', 'b', 'c'), answer('a', '1'), answer('c', '3')],
    [calls('a', 'b', 'c'), answer('a', '1'), cancelled('b'), answer('c', '3')]],
  ['answers are put in call order', [calls('a', 'b'), answer('b', '2'), answer('a', '1')],
    [calls('a', 'b'), answer('a', '1'), answer('b', '2')]],
  ['a late answer is moved up to its call', [calls('a'), hi, yes, answer('a', '1')],
    [calls('a'), answer('a', '1'), hi, yes]],
  ['a late answer among others',
    [calls('a', 'b'), answer('b', '2'), hi, answer('a', '1')],
    [calls('a', 'b'), answer('a', '1'), answer('b', '2'), hi]],
  ['late answers to different messages',
    [calls('a'), calls('b'), hi, answer('b', '2'), answer('a', '1')],
    [calls('a'), answer('a', '1'), calls('b'), answer('b', '2'), hi]],
  ['an orphan is dropped', [hi, answer('x', '1'), yes], [hi, yes]],
  ['an orphan at the start is dropped', [answer('x', '1'), hi], [hi]],
  ['a stranger among the answers is dropped', [calls('a'), answer('x', '9'), answer('a', '1')],
    [calls('a'), answer('a', '1')]],
  ['an answer before its call is dropped', [answer('a', '1'), calls('a')],
    [calls('a'), cancelled('a')]],
  ['a second answer is dropped', [calls('a'), answer('a', '1'), answer('a', '2')],
    [calls('a'), answer('a', '1')]],
  ['a late second answer is dropped', [calls('a'), answer('a', '1'), hi, answer('a', '2')],
    [calls('a'), answer('a', '1'), hi]],
  ['an id twice in one message has two answers',
    [calls('a', 'b', 'a'), answer('a', '1'), answer('a', '2'), answer('a', '3')],
    [calls('a', 'b', 'a'), answer('a', '1'), cancelled('b'), answer('a', '2')]],
  ['an id twice in one message, answered once', [calls('a', 'a'), answer('a', '1')],
    [calls('a', 'a'), answer('a', '1'), cancelled('a')]],
  ['an id used again after its answer',
    [calls('a'), answer('a', '1'), calls('a'), answer('a', '2')],
    [calls('a'), answer('a', '1'), calls('a'), answer('a', '2')]],
  ['an answer belongs to the newest message of its id',
    [calls('a'), hi, calls('a'), answer('a', '2')],
    [calls('a'), cancelled('a'), hi, calls('a'), answer('a', '2')]],
  ['no second answer falls back to an older message',
    [calls('a'), calls('a'), answer('a', '2'), answer('a', '3')],
    [calls('a'), cancelled('a'), calls('a'), answer('a', '2')]],
  ['a newer message takes one id of several', [calls('a', 'b'), calls('b'), answer('b', '2'),
    answer('a', '1')],
  [calls('a', 'b'), answer('a', '1'), cancelled('b'), calls('b'), answer('b', '2')]],
  ['the empty id is an id', [calls(''), answer('', '1')], [calls(''), answer('', '1')]],
  ['__proto__ is an id', [calls('__proto__'), answer('__proto__', '1'), answer('toString', '2')],
    [calls('__proto__'), answer('__proto__', '1')]],
  ['a tool message without id is dropped',
    [calls('a'), { ...answer('a', '1'), tool_call_id: null }], [calls('a'), cancelled('a')]],
  ['a tool message without id answers no empty id',
    [calls(''), { ...answer('', '1'), tool_call_id: null }], [calls(''), cancelled('')]],
  ['only calls of an assistant are answered', [{ ...calls('a'), role: 'user' }, answer('a', '1')],
    [{ ...calls('a'), role: 'user' }]],
  ['a real answer of the cancelled text counts as one',
    [calls('a'), cancelled('a'), answer('a', '1')], [calls('a'), cancelled('a')]],
])('C4.6 %s', (_name, messages, balanced) => {
  deepFreeze(messages);
  expect(balanceToolCalls(messages)).toStrictEqual(balanced);
  expect(balanceToolCalls(new Set(messages))).toStrictEqual(balanced);
  expect(balanceToolCalls(balanced)).toStrictEqual(balanced);
});

test('C4.6 words, pictures and calls in one message: every call has its answer', () => {
  const mixed: Message = {
    role: 'assistant',
    content: [{ type: 'text', content: 'let me' }, ...calls('a').content, ...calls('b').content],
    tool_call_id: null,
  };
  expect(balanceToolCalls([mixed, answer('b', '2')])).toStrictEqual([
    mixed,
    cancelled('a'),
    answer('b', '2'),
  ]);
});

test('C4.6 what stays is the same object, in a fresh array', () => {
  const messages = [hi, calls('a'), yes, answer('a', '1')];
  const balanced = balanceToolCalls(messages);
  expect(balanced[0]).toBe(messages[0]);
  expect(balanced[1]).toBe(messages[1]);
  expect(balanced[2]).toBe(messages[3]);
  expect(balanced[3]).toBe(messages[2]);
  const same = [hi, yes];
  expect(balanceToolCalls(same)).not.toBe(same);
});
