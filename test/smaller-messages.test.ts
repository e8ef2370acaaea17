import { systemMessage, toolResultMessage, userMessage, type Message } from '@celestea/core';
import { expect, test } from 'vitest';

import { ContextBudgetError, fitContext } from '../src/context-fit.ts';
import { giveableTokens, withoutArguments, withoutResult } from '../src/smaller-messages.ts';

const resultOf = (...texts: string[]): Message => ({
  ...toolResultMessage('c', ''),
  content: texts.map((content) => ({ type: 'text', content })),
});

const notice = '[context-trimmed] result of 123456 bytes left out to fit';

test('X7 a notice that stands for a result is not left out once more', () => {
  const message = resultOf(notice);
  expect(withoutResult(message)).toBe(message);
});

test.each([
  [['seen', 'ä'], 6],
  [[notice, 'and more'], 64],
  [[`> ${notice}`], 58],
  [[`${notice}.`], 57],
  [['[context-trimmed] result of many bytes left out to fit'], 54],
])('X7 any other result is, with its bytes said: %j', (texts, bytes) => {
  const [block] = withoutResult(resultOf(...texts)).content;
  const content = `[context-trimmed] result of ${String(bytes)} bytes left out to fit`;
  expect(block).toEqual({ type: 'text', content });
});

test('X7 arguments no longer than their notice stay beside those that are left out', () => {
  const call = (args: unknown): Message['content'][number] => ({
    type: 'tool_call',
    content: { id: 'c', name: 'look', args },
  });
  // as long as `{"notice":"[context-trimmed] arguments of 68 bytes left out to fit"}`
  const asLong = { a: 'x'.repeat(60) };
  const content = [call({ a: 1 }), call(asLong), call({ a: 'x'.repeat(61) })];
  const made = withoutArguments({ role: 'assistant', content, tool_call_id: null });
  expect(made.content.slice(0, 2)).toEqual(content.slice(0, 2));
  const left = { notice: '[context-trimmed] arguments of 69 bytes left out to fit' };
  expect(made.content[2]).toEqual(call(left));
});

test('X7 a system message gives nothing', () => {
  expect(giveableTokens(systemMessage('x'.repeat(1_000)), 128)).toBe(0);
  expect(giveableTokens(userMessage('x'.repeat(1_000)), 128)).toBe(194);
});

test('X7 a request without a text that could be cut is refused like any other', () => {
  const ref = { attachment_id: 'a'.repeat(64), media_type: 'image/png', width: 9, height: 9 } as const;
  const picture: Message = {
    role: 'user',
    content: [{ type: 'image', content: ref }],
    tool_call_id: null,
  };
  const fit = (): unknown => fitContext([picture], 0, 20, 1, 1);
  expect(fit).toThrow(ContextBudgetError);
  expect(fit).toThrow(expect.objectContaining({ name: 'ContextBudgetError' }) as Error);
});

test('X7 of two long texts neither pays for the other', () => {
  const asked: Message = {
    role: 'user',
    content: ['a', 'b'].map((text) => ({ type: 'text', content: text.repeat(8_000) })),
    tool_call_id: null,
  };
  const { messages } = fitContext([asked], 0, 2_500, 1, 1);
  const lengths = messages[0]?.content.map(({ content }) => JSON.stringify(content).length) ?? [];
  expect(lengths.length).toBe(2);
  expect(Math.min(...lengths) * 2.5).toBeGreaterThan(Math.max(...lengths));
});
