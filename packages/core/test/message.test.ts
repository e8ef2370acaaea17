import { expect, expectTypeOf, test } from 'vitest';

import {
  assistantText,
  assistantToolCall,
  balanceToolCalls,
  deriveMessagesFrom,
  hasToolCalls,
  IMAGE_MEDIA_TYPES,
  imageContent,
  IncrementalProjection,
  isImageContent,
  isImageMediaType,
  isTextContent,
  isToolCallContent,
  Message,
  messageImages,
  messageText,
  messageTexts,
  messageToolCalls,
  ROLES,
  serializeSessionEvent,
  systemMessage,
  toolCallIds,
  toolResultMessage,
  toolResultWithImages,
  userMessage,
  userMessageWithImages,
  type Content,
  type ImageMediaType,
  type ImageRef,
  type Role,
  type SessionEvent,
  type ToolCall,
} from '@celestea/core';

import { deepFreeze, picture } from './support.ts';

const call = (id: string): ToolCall => ({ id, name: 'read', args: { path: id } });

test('C1 the lists of roles and media types', () => {
  expect(ROLES).toEqual(['system', 'user', 'assistant', 'tool']);
  expect(IMAGE_MEDIA_TYPES).toEqual(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);
});

test('C1 X10 the shapes are the wire format', () => {
  expectTypeOf<Role>().toEqualTypeOf<'system' | 'user' | 'assistant' | 'tool'>();
  expectTypeOf<ToolCall>().toEqualTypeOf<{
    id: string;
    name: string;
    args: unknown;
    meta?: unknown;
  }>();
  expectTypeOf<Content>().toEqualTypeOf<
    | { type: 'text'; content: string }
    | { type: 'tool_call'; content: ToolCall }
    | { type: 'image'; content: ImageRef }
    | { type: 'thinking'; content: { text: string; meta: unknown } }
  >();
  expectTypeOf<Message>().toEqualTypeOf<{
    role: Role;
    content: Content[];
    tool_call_id: string | null;
  }>();
  expectTypeOf<ImageMediaType>().toEqualTypeOf<
    'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'
  >();
  expectTypeOf<ImageRef>().toEqualTypeOf<{
    attachment_id: string;
    media_type: ImageMediaType;
    width: number;
    height: number;
    name?: string;
    original?: { width: number; height: number; bytes: number; media_type: ImageMediaType };
  }>();
});

test('C1.1 constructors build plain messages', () => {
  expect(userMessage('hi')).toStrictEqual({
    role: 'user',
    content: [{ type: 'text', content: 'hi' }],
    tool_call_id: null,
  });
  expect(systemMessage('be brief')).toStrictEqual({
    role: 'system',
    content: [{ type: 'text', content: 'be brief' }],
    tool_call_id: null,
  });
  expect(assistantText('')).toStrictEqual({
    role: 'assistant',
    content: [{ type: 'text', content: '' }],
    tool_call_id: null,
  });
  expect(assistantToolCall(call('c1'))).toStrictEqual({
    role: 'assistant',
    content: [
      { type: 'tool_call', content: { id: 'c1', name: 'read', args: { path: 'c1' } } },
    ],
    tool_call_id: null,
  });
  expect(toolResultMessage('c1', 'text')).toStrictEqual({
    role: 'tool',
    content: [{ type: 'text', content: 'text' }],
    tool_call_id: 'c1',
  });
});

test('C1.1 pictures stand after the text, in order', () => {
  const content = [
    { type: 'text', content: 'look' },
    { type: 'image', content: picture(1) },
    { type: 'image', content: picture(2) },
  ];
  expect(imageContent(picture(1))).toStrictEqual(content[1]);
  expect(userMessageWithImages('look', [picture(1), picture(2)])).toStrictEqual({
    role: 'user',
    content,
    tool_call_id: null,
  });
  expect(toolResultWithImages('c1', 'look', [picture(1), picture(2)])).toStrictEqual({
    role: 'tool',
    content,
    tool_call_id: 'c1',
  });
  expect(userMessageWithImages('look', [])).toStrictEqual(userMessage('look'));
  expect(toolResultWithImages('c1', 'look', [])).toStrictEqual(toolResultMessage('c1', 'look'));
});

test('C1.1 the Message namespace is the same set under short names', () => {
  expect(Message).toStrictEqual({
    user: userMessage,
    system: systemMessage,
    assistantText,
    assistantToolCall,
    toolResult: toolResultMessage,
    userWithImages: userMessageWithImages,
    toolResultWithImages,
  });
});

const mixed: Message = {
  role: 'assistant',
  content: [
    { type: 'text', content: 'one' },
    { type: 'tool_call', content: call('a') },
    { type: 'image', content: picture(1) },
    { type: 'text', content: 'two' },
    { type: 'tool_call', content: call('b') },
    { type: 'image', content: picture(2) },
  ],
  tool_call_id: null,
};

test('C1.2 block readers tell the three kinds apart', () => {
  expect(mixed.content.map(isTextContent)).toEqual([true, false, false, true, false, false]);
  expect(mixed.content.map(isToolCallContent)).toEqual([false, true, false, false, true, false]);
  expect(mixed.content.map(isImageContent)).toEqual([false, false, true, false, false, true]);
});

test('C1.2 message readers give everything of a kind, in order', () => {
  expect(messageTexts(mixed)).toEqual(['one', 'two']);
  expect(messageToolCalls(mixed)).toEqual([call('a'), call('b')]);
  expect(toolCallIds(mixed)).toEqual(['a', 'b']);
  expect(messageImages(mixed)).toEqual([picture(1), picture(2)]);
  expect(hasToolCalls(mixed)).toBe(true);
  const none: Message = { role: 'user', content: [], tool_call_id: null };
  expect(messageTexts(none)).toEqual([]);
  expect(messageToolCalls(none)).toEqual([]);
  expect(toolCallIds(none)).toEqual([]);
  expect(messageImages(none)).toEqual([]);
  expect(hasToolCalls(none)).toBe(false);
  expect(hasToolCalls(userMessageWithImages('a', [picture(1)]))).toBe(false);
});

test.each<[name: string, message: Message, text: string | null]>([
  ['one text block', userMessage('hi'), 'hi'],
  ['one empty text block', userMessage(''), ''],
  ['one beside pictures', userMessageWithImages('hi', [picture(1)]), 'hi'],
  ['one beside calls', { ...mixed, content: mixed.content.slice(0, 3) }, 'one'],
  ['one behind a call', { ...mixed, content: mixed.content.slice(1, 4) }, 'two'],
  ['two text blocks', mixed, null],
  ['no text block', assistantToolCall(call('a')), null],
  ['no block', { ...mixed, content: [] }, null],
])('C1.2 messageText of %s', (_name, message, text) => {
  expect(messageText(message)).toBe(text);
});

test('C1.2 isImageMediaType knows the four and nothing else', () => {
  const good = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
  expect(good.map(isImageMediaType)).toEqual([true, true, true, true]);
  const bad = ['image/PNG', 'image/svg+xml', 'image/jpg', ' image/png', '', null, undefined, 0];
  expect(bad.filter(isImageMediaType)).toEqual([]);
  expect([['image/png'], Object('image/png')].filter(isImageMediaType)).toEqual([]);
});

test('C1.3 a turn that calls several tools is one message with a block a call', () => {
  const rows: SessionEvent[] = [
    { type: 'tool_call', id: 'a', name: 'read', args: { path: 'a' } },
    { type: 'tool_call', id: 'b', name: 'read', args: { path: 'b' } },
    { type: 'tool_result', id: 'a', value: 1, error: null },
    { type: 'tool_result', id: 'b', value: 2, error: null },
  ];
  const messages = deriveMessagesFrom(rows);
  expect(messages.filter(hasToolCalls)).toStrictEqual([
    {
      role: 'assistant',
      content: [
        { type: 'tool_call', content: { id: 'a', name: 'read', args: { path: 'a' } } },
        { type: 'tool_call', content: { id: 'b', name: 'read', args: { path: 'b' } } },
      ],
      tool_call_id: null,
    },
  ]);
});

test('C1.5 nothing mutates a row or a message it was handed', () => {
  const rows = deepFreeze<SessionEvent[]>([
    { type: 'turn_start', id: 'turn-0' },
    { type: 'user_message', text: 'hi', attachments: [picture(1)] },
    { type: 'tool_call', id: 'a', name: 'read', args: { z: 1, a: [1] } },
    { type: 'tool_call', id: 'b', name: 'read', args: null },
    { type: 'tool_result', id: 'b', value: { z: 1, attachments: [picture(2)] }, error: null },
    { type: 'turn_end', id: 'turn-0', outcome: { error: { kind: 'stream', message: 'm' } } },
  ]);
  const messages = deepFreeze(deriveMessagesFrom(rows));
  expect(messages).toHaveLength(4);
  expect(balanceToolCalls(messages)).toEqual(messages);
  expect(rows.map(serializeSessionEvent)).toHaveLength(6);

  const projection = new IncrementalProjection();
  for (const row of rows) {
    projection.append(row);
    deepFreeze(projection.messages());
  }
  expect(projection.messages()).toEqual(messages);
});

test('C1.5 a message keeps no hold on the list of pictures it was made from', () => {
  const refs = [picture(1)];
  const user = userMessageWithImages('hi', refs);
  const result = toolResultWithImages('a', 'hi', refs);
  refs.push(picture(2));
  expect(messageImages(user)).toEqual([picture(1)]);
  expect(messageImages(result)).toEqual([picture(1)]);
});

test('C1.5 a message handed out earlier does not change when rows are appended', () => {
  const projection = new IncrementalProjection();
  projection.append({ type: 'tool_call', id: 'a', name: 'read', args: 1 });
  const [first] = projection.messages();
  projection.append({ type: 'tool_call', id: 'b', name: 'read', args: 2 });
  const [second] = projection.messages();
  expect(first?.content).toHaveLength(1);
  expect(second?.content).toHaveLength(2);
});
