import type { LanguageModelV3Prompt } from '@ai-sdk/provider';
import {
  assistantText,
  systemMessage,
  toolResultMessage,
  toolResultWithImages,
  userMessage,
  userMessageWithImages,
  type Content,
  type ImageRef,
  type Message,
  type ModelRequest,
} from '@celestea/core';
import { expect, test, vi } from 'vitest';

import { aiSdkLlm } from '../src/index.ts';
import { collect, finish, requestOf, scriptedModel } from './support/v3-model.ts';

const BYTES = new Uint8Array([1, 2, 3]);
const picture: ImageRef = {
  attachment_id: 'ab'.repeat(32),
  media_type: 'image/png',
  width: 4,
  height: 3,
};
const missing: ImageRef = { ...picture, attachment_id: 'cd'.repeat(32), name: 'a "b".png' };

const attachments = {
  read: ({ attachment_id }: ImageRef) =>
    Promise.resolve(attachment_id === picture.attachment_id ? BYTES : null),
};

const sent = async (
  request: Partial<ModelRequest>,
  options = {},
): Promise<LanguageModelV3Prompt> => {
  const { model, asked } = scriptedModel([finish()]);
  await collect(await aiSdkLlm(model, { attachments, ...options }).generate(requestOf(request)));
  return asked[0]?.prompt ?? [];
};

const assistant = (...content: Content[]): Message => ({
  role: 'assistant',
  content,
  tool_call_id: null,
});

const calls = (id: string, args: unknown, meta?: unknown): Content => ({
  type: 'tool_call',
  content: { id, name: `tool_${id}`, args, ...(meta === undefined ? {} : { meta }) },
});

const thinking = (text: string, meta: unknown): Content => ({
  type: 'thinking',
  content: { text, meta },
});

test('C2.1 the settings of a request are passed on, and null leaves them to the provider', async () => {
  const { model, asked } = scriptedModel([finish()]);
  const llm = aiSdkLlm(model, { providerOptions: { test: { effort: 'high' } } });
  const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }];
  await collect(await llm.generate(requestOf({ tools, max_tokens: 9, temperature: 0 })));
  await collect(await llm.generate(requestOf()));
  expect(asked[0]).toMatchObject({
    maxOutputTokens: 9,
    temperature: 0,
    tools: [
      { type: 'function', name: 'look', description: 'Looks.', inputSchema: { type: 'object' } },
    ],
    toolChoice: { type: 'auto' },
    providerOptions: { test: { effort: 'high' } },
  });
  expect(Object.keys(asked[1] ?? {}).sort()).toEqual(['abortSignal', 'prompt', 'providerOptions']);
});

test('C2.1 system messages go first, blank ones nowhere', async () => {
  const messages = [userMessage('a'), systemMessage('late'), systemMessage(' '), userMessage('b')];
  expect(await sent({ system: 'first', messages })).toEqual([
    { role: 'system', content: 'first' },
    { role: 'system', content: 'late' },
    { role: 'user', content: [{ type: 'text', text: 'a' }] },
    { role: 'user', content: [{ type: 'text', text: 'b' }] },
  ]);
});

test('X9 no empty text and no empty message is sent, whatever stands in the request', async () => {
  const messages = [
    userMessage(' '),
    assistantText(''),
    userMessageWithImages('', [picture]),
    assistant({ type: 'text', content: '\n' }, calls('a', {})),
    toolResultMessage('a', ''),
  ];
  expect(await sent({ system: '', messages })).toEqual([
    { role: 'user', content: [{ type: 'text', text: '(no words)' }] },
    { role: 'user', content: [{ type: 'file', data: BYTES, mediaType: 'image/png' }] },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'tool_a', input: {} }],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'a',
          toolName: 'tool_a',
          output: { type: 'text', value: '' },
        },
      ],
    },
  ]);
});

test('C1.3 the answers of one step go out together, pictures of theirs after them', async () => {
  const messages = [
    userMessage('go'),
    assistant(calls('a', {}), calls('b', { n: 1 })),
    toolResultWithImages('a', 'one', [picture, missing]),
    toolResultMessage('b', 'two'),
    assistantText('So.'),
  ];
  const prompt = await sent({ messages });
  expect(prompt.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'user',
    'assistant',
  ]);
  expect(prompt[2]).toMatchObject({ content: [{ toolCallId: 'a' }, { toolCallId: 'b' }] });
  expect(prompt[3]).toEqual({
    role: 'user',
    content: [
      { type: 'text', text: 'The pictures of the tool results above:' },
      { type: 'file', data: BYTES, mediaType: 'image/png' },
      { type: 'text', text: '[picture "a \\"b\\".png", image/png, 4×3, is not available]' },
    ],
  });
});

test('a picture that cannot be had is a note, never a failed request', async () => {
  const stores = [
    undefined,
    { read: () => Promise.resolve(null) },
    { read: () => Promise.reject(new Error('disk')) },
    { read: () => Promise.resolve(new Uint8Array()) },
    { read: () => Promise.resolve('text' as never) },
    {
      read: () => {
        throw new Error('at once');
      },
    },
  ];
  for (const store of stores) {
    const messages = [userMessageWithImages('what is it?', [picture])];
    expect(await sent({ messages }, { attachments: store })).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'what is it?' },
          { type: 'text', text: '[picture, image/png, 4×3, is not available]' },
        ],
      },
    ]);
  }
});

test('a picture for a model that cannot see is a note, and is not read', async () => {
  const messages = [
    userMessageWithImages('what is it?', [picture]),
    assistant(calls('a', {})),
    toolResultWithImages('a', 'one', [missing]),
  ];
  const read = vi.fn<typeof attachments.read>().mockResolvedValue(BYTES);
  const prompt = await sent({ messages }, { attachments: { read }, pictures: false });
  expect(prompt[0]?.content).toEqual([
    { type: 'text', text: 'what is it?' },
    { type: 'text', text: '[picture, image/png, 4×3: this model cannot see pictures]' },
  ]);
  const named = '[picture "a \\"b\\".png", image/png, 4×3: this model cannot see pictures]';
  expect(prompt.at(-1)?.content).toContainEqual({ type: 'text', text: named });
  expect(read).not.toHaveBeenCalled();
  expect(() => aiSdkLlm(scriptedModel([]).model, { pictures: 0 as never })).toThrow(
    'pictures: expected true or false, got 0',
  );
});

test('X10 what a provider signed goes back to it, and to no other', async () => {
  const metadata = { test: { signature: 's' } };
  const mine = { provider: 'test.chat', metadata };
  const messages = [
    userMessage('go'),
    assistant(
      thinking('mine', mine),
      thinking('not mine', { provider: 'other', metadata }),
      thinking('not signed', { provider: 'test.chat' }),
      thinking('of a host', 'opaque'),
      { type: 'text', content: 'I look.' },
      calls('a', {}, mine),
      calls('b', {}, { provider: 'other', metadata }),
      calls('c', {}, { provider: 'test.chat', metadata: 'no' }),
    ),
    assistant(thinking('of words', { provider: 'test.chat' }), { type: 'text', content: 'Done.' }),
  ];
  const prompt = await sent({ messages });
  expect(prompt[1]).toEqual({
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'mine', providerOptions: metadata },
      { type: 'reasoning', text: 'not signed' },
      { type: 'text', text: 'I look.' },
      {
        type: 'tool-call',
        toolCallId: 'a',
        toolName: 'tool_a',
        input: {},
        providerOptions: metadata,
      },
      { type: 'tool-call', toolCallId: 'b', toolName: 'tool_b', input: {} },
      { type: 'tool-call', toolCallId: 'c', toolName: 'tool_c', input: {} },
    ],
  });
  expect(prompt[2]).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'Done.' }] });
});

test('X11 ids and arguments that a provider would refuse are sent as it takes them', async () => {
  const messages = [
    userMessage('go'),
    assistant(calls('call:1/ä', null), calls('call-1', 'torn {'), calls('x'.repeat(65), [1])),
    toolResultMessage('call:1/ä', 'one'),
    toolResultMessage('call-1', 'two'),
    toolResultMessage('x'.repeat(65), 'three'),
  ];
  const prompt = await sent({ messages });
  expect(prompt[1]).toMatchObject({
    content: [
      { toolCallId: 'call-2', input: {} },
      { toolCallId: 'call-1', input: { arguments: 'torn {' } },
      { toolCallId: 'call-3', input: { arguments: [1] } },
    ],
  });
  expect(prompt[2]).toMatchObject({
    content: [{ toolCallId: 'call-2' }, { toolCallId: 'call-1' }, { toolCallId: 'call-3' }],
  });
});

test('C1.3 a name that a model made up is sent as providers take it, with its answer', async () => {
  const names = ['functions.read_file', '', 'read file', '日本', 'x'.repeat(200), 'mcp-1_add'];
  const messages = names.flatMap((name, index) => {
    const id = String(index);
    const call = { id, name, args: {} };
    return [
      assistant({ type: 'tool_call', content: call }),
      toolResultMessage(id, 'there is no such tool'),
    ];
  });
  const prompt = await sent({ messages: [userMessage('go'), ...messages] });
  const sentNames = prompt.flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.flatMap((part) => ('toolName' in part ? [part.toolName] : [])),
  );
  const plain = ['functions_read_file', 'unnamed', 'read_file', '_', 'x'.repeat(64), 'mcp-1_add'];
  expect(sentNames).toEqual(plain.flatMap((name) => [name, name]));
});

test('X10 reasoning goes back as well-formed Unicode', async () => {
  const meta = { provider: 'test.chat', metadata: { test: { signature: 's' } } };
  const messages = [userMessage('go'), assistant(thinking('a\ud800b', meta), calls('a', {}))];
  expect((await sent({ messages }))[1]).toMatchObject({ content: [{ text: 'a\ufffdb' }, {}] });
});

test('X10 a signer tells apart the servers that one adapter asks', async () => {
  const signed = { provider: 'a@one', metadata: { test: { signature: 's' } } };
  const messages = [userMessage('go'), assistant(thinking('of one', signed), calls('a', {}))];
  expect((await sent({ messages }, { signer: 'a@one' }))[1]?.content).toHaveLength(2);
  expect((await sent({ messages }, { signer: 'a@two' }))[1]?.content).toHaveLength(1);
});

test('C2.4 a request without messages is refused before it is sent', async () => {
  const { model, asked } = scriptedModel([finish()]);
  const refused = aiSdkLlm(model).generate(requestOf({ messages: [] }));
  await expect(refused).rejects.toThrow('the request has no message to answer');
  expect(asked).toEqual([]);
});
