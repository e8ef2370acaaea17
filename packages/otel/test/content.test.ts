import { createAgentLoop } from '@celestea/agent-loop';
import {
  done,
  failingLlm,
  FakeToolRegistry,
  ScriptedLlm,
  testContext,
  type Script,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  userMessage,
  utf8Length,
  type ImageRef,
  type Message,
} from '@celestea/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { inputMessages, outputMessages, systemInstructions, toolArguments } from '../src/content.ts';
import { boundedJson, boundedText } from '../src/content-text.ts';
import { traceLoop } from '../src/index.ts';
import { recorder, type Recorder } from './support/recorder.ts';

const config = defaultAgentConfig({ model: 'm', system_prompt: 'SECRET system' });

const scripts = (): Script[] => [
  [
    { kind: 'thinking', text: 'SECRET thought' },
    { kind: 'text', text: 'SECRET words' },
    done('SECRET words', { id: 'a', name: 'look', args: '{"path":"SECRET path"}' }),
  ],
  [done('', { id: 'b', name: 'fail', args: { why: 'SECRET' } })],
  [done('SECRET answer')],
];

async function runTurn(options: {
  captureContent?: boolean;
  contentBytes?: number;
}): Promise<Recorder> {
  const recorded = recorder();
  const tools = new FakeToolRegistry({
    look: () => ({ found: 'SECRET result' }),
    fail: () => {
      throw new Error('SECRET reason');
    },
  });
  const loop = traceLoop(createAgentLoop(config), { tracer: recorded.tracer, ...options });
  await loop.runTurn(testContext({ llm: new ScriptedLlm(scripts()), tools }), 'SECRET input');
  const down = testContext({ llm: failingLlm(new Error('SECRET failure')) });
  await loop.runTurn(down, 'SECRET input');
  return recorded;
}

/** Everything that a span carries. */
const told = ({ ended }: Recorder): string =>
  ended()
    .map(({ name, attributes, status, events, links }) =>
      JSON.stringify([name, attributes, status, events, links]),
    )
    .join('\n');

const json = (text: unknown): unknown => JSON.parse(String(text));

test('nothing that was said is told unless it is asked for', async () => {
  expect(told(await runTurn({}))).not.toContain('SECRET');
});

test('what was said is told in the shape of the conventions when it is asked for', async () => {
  const recorded = await runTurn({ captureContent: true });
  const chats = recorded.ended().filter(({ name }) => name === 'chat m');
  expect(json(chats[0]?.attributes['gen_ai.system_instructions'])).toEqual([
    { type: 'text', content: 'SECRET system' },
  ]);
  expect(json(chats[0]?.attributes['gen_ai.output.messages'])).toEqual([
    {
      role: 'assistant',
      parts: [
        { type: 'text', content: 'SECRET words' },
        { type: 'tool_call', id: 'a', name: 'look', arguments: '{"path":"SECRET path"}' },
      ],
      finish_reason: 'tool_call',
    },
  ]);
  const [question, calling, result] = json(
    chats[1]?.attributes['gen_ai.input.messages'],
  ) as unknown[];
  expect(question).toEqual({ role: 'user', parts: [{ type: 'text', content: 'SECRET input' }] });
  expect(calling).toMatchObject({ role: 'assistant', parts: [{ type: 'text' }, { id: 'a' }] });
  expect(result).toEqual({
    role: 'tool',
    parts: [{ type: 'tool_call_response', id: 'a', response: '{"found":"SECRET result"}' }],
  });
  const { attributes } = recorded.span('execute_tool look');
  expect(json(attributes['gen_ai.tool.call.arguments'])).toEqual({ path: 'SECRET path' });
  expect(json(attributes['gen_ai.tool.call.result'])).toEqual({ found: 'SECRET result' });
});

test('why something failed is told when content is asked for', async () => {
  const recorded = await runTurn({ captureContent: true });
  const { attributes, status } = recorded.span('execute_tool fail');
  expect(status.message).toBe('SECRET reason');
  expect(attributes).not.toHaveProperty(['gen_ai.tool.call.result']);
  const [whole, down] = recorded.ended().filter(({ name }) => name === 'invoke_agent');
  expect(down?.status.message).toBe('SECRET failure');
  expect(json(whole?.attributes['gen_ai.input.messages'])).toEqual([
    { role: 'user', parts: [{ type: 'text', content: 'SECRET input' }] },
  ]);
  expect(whole?.attributes['gen_ai.output.messages']).toContain('SECRET answer');
});

test('each attribute of content has room for so many bytes', async () => {
  const recorded = await runTurn({ captureContent: true, contentBytes: 256 });
  const texts = recorded
    .ended()
    .flatMap(({ attributes }) => Object.values(attributes))
    .filter((value) => typeof value === 'string');
  expect(Math.max(...texts.map(utf8Length))).toBeLessThanOrEqual(256);
  expect(told(recorded)).toContain('[content-cut]');
});

const image: ImageRef = { attachment_id: 'ab', media_type: 'image/png', width: 1, height: 1 };

test('pictures and reasoning have parts of their own', () => {
  const message: Message = {
    role: 'assistant',
    content: [
      { type: 'thinking', content: { text: 'Hm.', meta: 'signed' } },
      { type: 'image', content: image },
    ],
    tool_call_id: null,
  };
  const parts = [
    { type: 'reasoning', content: 'Hm.' },
    { type: 'file', modality: 'image', mime_type: 'image/png', file_id: 'ab' },
  ];
  expect(json(inputMessages([message], 4096))).toEqual([{ role: 'assistant', parts }]);
  expect(json(outputMessages(message, 'length', 4096))).toEqual([
    { role: 'assistant', parts, finish_reason: 'length' },
  ]);
  const result: Message = {
    role: 'tool',
    content: [
      { type: 'text', content: 'seen' },
      { type: 'image', content: image },
    ],
    tool_call_id: 'a',
  };
  expect(json(inputMessages([result], 4096))).toEqual([
    {
      role: 'tool',
      parts: [{ type: 'tool_call_response', id: 'a', response: 'seen' }, parts[1]],
    },
  ]);
});

test('the newest messages are kept where there is no room for all', () => {
  const messages = Array.from({ length: 100 }, (_, index) => userMessage(`m${String(index)}`));
  const kept = json(inputMessages(messages, 1024)) as { role: string; parts: unknown[] }[];
  expect(kept[0]).toEqual({
    role: 'system',
    parts: [{ type: 'text', content: `[content-cut] ${String(101 - kept.length)} messages left out` }],
  });
  expect(kept.at(-1)).toEqual({ role: 'user', parts: [{ type: 'text', content: 'm99' }] });
  expect(kept.length).toBeGreaterThan(10);
});

test('a long text keeps head and tail around a notice', () => {
  const text = boundedText(`head ${'x'.repeat(1000)} tail`, 256);
  expect(text).toMatch(/^head x+ \[content-cut\] \d+ bytes left out x+ tail$/);
});

test('a value that cannot be made to fit is a notice', () => {
  const numbers = Array.from({ length: 1000 }, (_, index) => index);
  expect(json(boundedJson(numbers, 256))).toBe('[content-cut] 3891 bytes left out');
});

test('a value that JSON does not hold disturbs nothing', () => {
  const cycle: Record<string, unknown> = { big: 10n };
  cycle['self'] = cycle;
  expect(json(toolArguments(cycle, 256))).toEqual({ big: 10, self: null });
  let deep: unknown = 'x'.repeat(9000);
  for (let depth = 0; depth < 50_000; depth += 1) deep = [deep];
  expect(json(boundedJson(deep, 256))).toMatch(/^\[content-cut\] /);
});

test('an escaped backslash is no part of a lone surrogate', () => {
  expect(json(boundedJson('\\ud83d \ud83d', 256))).toBe('\\ud83d \ufffd');
});

const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.array(fc.constantFrom('a', '漢', '😀', '\ud83d', '\\', '"'), { maxLength: 400 }).map((of) =>
    of.join(''),
  ),
);

test('content is JSON, well-formed and within its room, whatever was said', () => {
  const room = fc.integer({ min: 256, max: 2048 });
  const messages = fc.array(words.map(userMessage), { maxLength: 20 });
  const value = fc.oneof(fc.object({ values: [words, fc.integer()] }), fc.jsonValue(), words);
  fc.assert(
    fc.property(room, messages, value, words, (bytes, said, args, text) => {
      const texts = [
        inputMessages(said, bytes),
        toolArguments(args, bytes),
        systemInstructions(text, bytes),
        outputMessages(userMessage(text), undefined, bytes),
      ];
      for (const each of texts) {
        expect(utf8Length(each)).toBeLessThanOrEqual(bytes);
        expect(JSON.stringify(JSON.parse(each))).not.toMatch(/[^\\](\\\\)*\\ud[89a-f]/i);
      }
      const cut = boundedText(text, bytes);
      expect([cut.isWellFormed(), utf8Length(cut) <= bytes]).toEqual([true, true]);
    }),
  );
});
