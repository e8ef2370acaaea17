import { expect, test } from 'vitest';

import {
  ABANDONED_TOOL_CALL_TEXT,
  CANCELLED_TOOL_CALL_TEXT,
  deriveMessagesFrom,
  hasToolCalls,
  IncrementalProjection,
  isImageContent,
  isTextContent,
  isThinkingContent,
  isToolCallContent,
  Message,
  messageImages,
  messageText,
  messageTexts,
  messageToolCalls,
  type Content,
  type SessionEvent,
} from '@celestea/core';

import { deepFreeze, picture } from './support.ts';

const start: SessionEvent = { type: 'turn_start', id: 'turn-0' };
const end: SessionEvent = { type: 'turn_end', id: 'turn-0', outcome: 'completed' };
const user = (text: string): SessionEvent => ({ type: 'user_message', text });
const said = (text: string): SessionEvent => ({ type: 'assistant_message', text });
const saidFirst = (text: string): SessionEvent => ({
  type: 'assistant_message',
  text,
  calls_follow: true,
});
const thought = (text: string): SessionEvent => ({ type: 'thinking_delta', text });
const signed = (text: string, meta: unknown = text): SessionEvent => ({
  type: 'thinking_delta',
  text,
  meta,
});
const call = (id: string): SessionEvent => ({ type: 'tool_call', id, name: 'n', args: 1 });
const nestedCall: SessionEvent = { type: 'tool_call', id: 'x', name: 'n', args: 1, parent_id: 'a' };
const result = (id: string, value: unknown = 1): SessionEvent => ({
  type: 'tool_result',
  id,
  value,
  error: null,
});

const text = (content: string): Content => ({ type: 'text', content });
const calls = (...ids: string[]): Content[] =>
  ids.map((id) => ({ type: 'tool_call', content: { id, name: 'n', args: 1 } }));
const thinking = (words: string, meta: unknown = words): Content => ({
  type: 'thinking',
  content: { text: words, meta },
});
const reply = (...content: Content[]): Message => ({
  role: 'assistant',
  content,
  tool_call_id: null,
});
const answer = (id: string, words = '1'): Message => Message.toolResult(id, words);
const cancelled = (id: string): Message => answer(id, CANCELLED_TOOL_CALL_TEXT);

type Case = [name: string, rows: SessionEvent[], messages: Message[]];

/** Both projections, the incremental one with a look after every row, and one at the end. */
function expectMessages(rows: SessionEvent[], messages: Message[]): void {
  expect(deriveMessagesFrom(deepFreeze(rows))).toStrictEqual(messages);
  const watched = new IncrementalProjection();
  rows.forEach((row, at) => {
    watched.append(row);
    expect(watched.messages()).toStrictEqual(deriveMessagesFrom(rows.slice(0, at + 1)));
  });
  expect(watched.messages()).toStrictEqual(messages);
}

test.each<Case>([
  ['words and one call', [user('go'), saidFirst('See:'), call('a'), result('a'), said('Done.')],
    [Message.user('go'), reply(text('See:'), ...calls('a')), answer('a'), reply(text('Done.'))]],
  ['words and several calls', [saidFirst('See:'), call('a'), call('b'), result('a'), result('b')],
    [reply(text('See:'), ...calls('a', 'b')), answer('a'), answer('b')]],
  ['words alone, when a crash came between', [user('go'), saidFirst('See:')],
    [Message.user('go'), reply(text('See:'))]],
  ['words alone, when the turn was ended between', [saidFirst('See:'), end, start, call('a')],
    [reply(text('See:')), reply(...calls('a')), cancelled('a')]],
  ['words alone, when a turn was started between', [saidFirst('See:'), start, call('a')],
    [reply(text('See:')), reply(...calls('a')), cancelled('a')]],
  ['words alone, when somebody spoke between', [saidFirst('See:'), user('stop'), call('a')],
    [reply(text('See:')), Message.user('stop'), reply(...calls('a')), cancelled('a')]],
  ['words alone, when other words came', [saidFirst('See:'), said('No.'), call('a')],
    [reply(text('See:')), reply(text('No.')), reply(...calls('a')), cancelled('a')]],
  ['words twice, and the calls belong to the later', [saidFirst('1'), saidFirst('2'), call('a')],
    [reply(text('1')), reply(text('2'), ...calls('a')), cancelled('a')]],
  ['words and calls across rows that are never seen',
    [saidFirst('See:'), thought('hm'), nestedCall, call('a'), thought('hm'), call('b')],
    [reply(text('See:'), ...calls('a', 'b')), cancelled('a'), cancelled('b')]],
  ['no empty words before calls', [saidFirst(''), call('a'), result('a')],
    [reply(...calls('a')), answer('a')]],
  ['nothing of empty words that nothing followed', [user('go'), saidFirst(''), end],
    [Message.user('go')]],
  ['words of a row without the mark as a message of their own, as in old logs',
    [said('See:'), call('a'), result('a')],
    [reply(text('See:')), reply(...calls('a')), answer('a')]],
  ['two steps with words', [saidFirst('1'), call('a'), result('a'), saidFirst('2'), call('b')],
    [reply(text('1'), ...calls('a')), answer('a'), reply(text('2'), ...calls('b')),
      cancelled('b')]],
  ['no empty reply', [user('go'), said(''), user('on'), said('yes')],
    [Message.user('go'), Message.user('on'), reply(text('yes'))]],
  ['no empty reply after answers', [call('a'), result('a'), said('')],
    [reply(...calls('a')), answer('a')]],
  ['no reply of white space, which providers refuse', [user('go'), said(' \n'), said('yes')],
    [Message.user('go'), reply(text('yes'))]],
  ['no words of white space beside calls', [saidFirst('\n\n'), call('a'), result('a')],
    [reply(...calls('a')), answer('a')]],
  ['an empty user message', [user('')], [Message.user('')]],
  ['an empty result in its place', [call('a'), call('b'), result('a', ''), result('b')],
    [reply(...calls('a', 'b')), answer('a', '""'), answer('b')]],
])('X9 C4.5 the model sees %s', (_name, rows, messages) => {
  expectMessages(rows, messages);
});

test('X9 C4.7 words seen before their calls came stay as they were handed out', () => {
  const projection = new IncrementalProjection();
  projection.append(user('go'));
  projection.append(saidFirst('See:'));
  const early = projection.messages();
  projection.append(call('a'));
  const later = projection.messages();
  projection.append(call('b'));
  projection.append(result('b'));
  const last = projection.messages();
  expect(early).toStrictEqual([Message.user('go'), reply(text('See:'))]);
  expect(later).toStrictEqual([
    Message.user('go'),
    reply(text('See:'), ...calls('a')),
    cancelled('a'),
  ]);
  expect(last).toStrictEqual([
    Message.user('go'),
    reply(text('See:'), ...calls('a', 'b')),
    cancelled('a'),
    answer('b'),
  ]);
  expect(last[0]).toBe(early[0]);
});

const withMeta = (id: string, meta: unknown): SessionEvent => ({
  type: 'tool_call',
  id,
  name: 'n',
  args: 1,
  meta,
});

test.each<Case>([
  ['in front of a reply', [user('go'), signed('hm'), said('yes')],
    [Message.user('go'), reply(thinking('hm'), text('yes'))]],
  ['in front of calls', [signed('hm'), call('a'), result('a')],
    [reply(thinking('hm'), ...calls('a')), answer('a')]],
  ['in front of words and calls', [signed('hm'), saidFirst('See:'), call('a'), result('a')],
    [reply(thinking('hm'), text('See:'), ...calls('a')), answer('a')]],
  ['in front of calls with empty words', [signed('hm'), saidFirst(''), call('a'), result('a')],
    [reply(thinking('hm'), ...calls('a')), answer('a')]],
  ['several, in order, the unsigned ones left out',
    [signed('1'), thought('no'), signed('2'), said('yes')],
    [reply(thinking('1'), thinking('2'), text('yes'))]],
  ['with empty words, for a redacted block', [signed('', { data: 'x' }), said('yes')],
    [reply(thinking('', { data: 'x' }), text('yes'))]],
  ['with any meta but null, falsy ones too',
    [signed('0', 0), signed('f', false), signed('e', ''), signed('n', null), said('yes')],
    [reply(thinking('0', 0), thinking('f', false), thinking('e', ''), text('yes'))]],
  ['of the step it belongs to',
    [signed('1'), call('a'), result('a'), signed('2'), said('yes'), user('on'), said('ok')],
    [reply(thinking('1'), ...calls('a')), answer('a'), reply(thinking('2'), text('yes')),
      Message.user('on'), reply(text('ok'))]],
  ['so that calls after it are another message', [call('a'), signed('hm'), call('b')],
    [reply(...calls('a')), cancelled('a'), reply(thinking('hm'), ...calls('b')), cancelled('b')]],
  ['across rows of nested calls', [signed('hm'), nestedCall, call('a'), result('a')],
    [reply(thinking('hm'), ...calls('a')), answer('a')]],
])('X10 signed reasoning is seen %s', (_name, rows, messages) => {
  expectMessages(rows, messages);
});

test.each<Case>([
  ['with nothing after it', [user('go'), signed('hm')], [Message.user('go')]],
  ['at the end of its turn', [signed('hm'), end, start, said('yes')], [reply(text('yes'))]],
  ['of a turn that crashed', [signed('hm'), start, call('a'), result('a')],
    [reply(...calls('a')), answer('a')]],
  ['of an empty reply', [user('go'), signed('hm'), said(''), end, start, user('on'), said('yes')],
    [Message.user('go'), Message.user('on'), reply(text('yes'))]],
  ['of empty words whose calls never came', [signed('hm'), saidFirst(''), end], []],
  ['before somebody spoke', [signed('hm'), user('stop'), said('yes')],
    [Message.user('stop'), reply(text('yes'))]],
  ['before a late answer', [call('a'), signed('hm'), result('a'), said('yes')],
    [reply(...calls('a')), answer('a'), reply(text('yes'))]],
  ['without meta', [thought('hm'), said('yes'), thought('so'), call('a'), result('a')],
    [reply(text('yes')), reply(...calls('a')), answer('a')]],
  ['with a meta of null', [signed('hm', null), said('yes')], [reply(text('yes'))]],
])('X10 reasoning is dropped with its step: %s', (_name, rows, messages) => {
  expectMessages(rows, messages);
});

test('X10 what was signed comes back verbatim, on the call too', () => {
  const meta = deepFreeze({ signature: 'Zm9v\u2028', parts: [1, { z: null, a: 1e21 }] });
  const rows = [signed('hm', meta), withMeta('a', meta), withMeta('b', null), withMeta('c', 0)];
  const [message] = deriveMessagesFrom(rows);
  expect(message?.content).toStrictEqual([
    thinking('hm', meta),
    { type: 'tool_call', content: { id: 'a', name: 'n', args: 1, meta } },
    ...calls('b'),
    { type: 'tool_call', content: { id: 'c', name: 'n', args: 1, meta: 0 } },
  ]);
  expect(message?.content[0]).toHaveProperty('content.meta', meta);
});

test('X10 C4.5 the meta of a nested call stays in the log', () => {
  expectMessages([{ ...nestedCall, meta: { signature: 's' } }, said('yes')], [reply(text('yes'))]);
});

test('X10 C4.7 reasoning alone shows nothing, and a look at it changes nothing', () => {
  const projection = new IncrementalProjection();
  projection.append(signed('1'));
  expect(projection.messages()).toEqual([]);
  projection.append(saidFirst(''));
  expect(projection.messages()).toEqual([]);
  projection.append(call('a'));
  expect(projection.messages()).toStrictEqual([
    reply(thinking('1'), ...calls('a')),
    cancelled('a'),
  ]);
});

test('X10 C1.2 readers tell a thinking block apart, and take it for nothing else', () => {
  const block = thinking('hm');
  const readers = [isThinkingContent, isTextContent, isToolCallContent, isImageContent];
  expect(readers.map((is) => is(block))).toEqual([true, false, false, false]);
  const others = [text('a'), ...calls('a'), { type: 'image', content: picture(1) } as const];
  expect(others.map(isThinkingContent)).toEqual([false, false, false]);
  const message = reply(block, text('yes'));
  expect(messageText(message)).toBe('yes');
  expect(messageTexts(message)).toEqual(['yes']);
  expect(messageToolCalls(message)).toEqual([]);
  expect(messageImages(message)).toEqual([]);
  expect(hasToolCalls(message)).toBe(false);
});

const abandoned = (id: string, more: object = {}): SessionEvent => ({
  type: 'tool_result',
  id,
  value: null,
  error: 'cancelled before execution',
  abandoned: true,
  ...more,
});

test('X17 the text of an abandoned call', () => {
  expect(ABANDONED_TOOL_CALL_TEXT.startsWith('Error:')).toBe(true);
  expect(ABANDONED_TOOL_CALL_TEXT).toMatch(/\bhad started\b.*\bcancelled\b/);
  expect(ABANDONED_TOOL_CALL_TEXT).toMatch(/outcome is not known/);
  expect(ABANDONED_TOOL_CALL_TEXT).not.toBe(CANCELLED_TOOL_CALL_TEXT);
  expect(ABANDONED_TOOL_CALL_TEXT).not.toMatch(/before execution|not run/);
});

test('X17 a call that had started reads so, one that never started as not run', () => {
  const notRun: SessionEvent = {
    type: 'tool_result',
    id: 'b',
    value: null,
    error: 'cancelled before execution',
  };
  expectMessages(
    [call('a'), call('b'), abandoned('a'), notRun, end],
    [
      reply(...calls('a', 'b')),
      answer('a', ABANDONED_TOOL_CALL_TEXT),
      answer('b', 'Error: cancelled before execution'),
    ],
  );
});

test.each<[name: string, more: object]>([
  ['without an error', { error: null }],
  ['with an empty error', { error: '' }],
  ['with a value', { error: null, value: 'half' }],
  ['with a surface', { error: null, value: 'half', surface: { kind: 'truncation', note: 'cut' } }],
])('X17 an abandoned call %s still reads as unknown', (_name, more) => {
  expectMessages(
    [call('a'), abandoned('a', more)],
    [reply(...calls('a')), answer('a', ABANDONED_TOOL_CALL_TEXT)],
  );
});

test('X17 C4.6 an abandoned answer sits with its call, wherever it comes', () => {
  expectMessages(
    [call('a'), user('wait'), abandoned('a'), abandoned('a'), abandoned('z')],
    [reply(...calls('a')), answer('a', ABANDONED_TOOL_CALL_TEXT), Message.user('wait')],
  );
});
