import {
  assistantText,
  assistantToolCall,
  toolResultMessage,
  toolResultWithImages,
  userMessage,
  userMessageWithImages,
  utf8Length,
  type ImageRef,
  type Message,
} from '@celestea/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { trimContext } from '../src/context-trim.ts';
import {
  estimateImageTokens,
  estimateMessagesTokens,
  estimateMessageTokens,
  estimateTokens,
  IMAGE_BASE_TOKENS,
  IMAGE_PIXEL_DIVISOR,
  messageEstimator,
  withMessageEstimator,
} from '../src/tokens.ts';

const HIGH = '\ud83d';
const LOW = '\ude00';

test.each([
  ['', 0, 0],
  ['a', 1, 1],
  ['abcd', 4, 1],
  ['abcde', 5, 2],
  ['é', 2, 1],
  ['ééé', 6, 2],
  ['漢字', 6, 2],
  ['\u007f\u0080\u07ff\u0800\uffff', 11, 3],
  [HIGH + LOW, 4, 1],
  [HIGH, 3, 1],
  [LOW, 3, 1],
  [LOW + HIGH, 6, 2],
  [HIGH + HIGH + LOW, 7, 2],
  [`${HIGH}a${LOW}`, 7, 2],
])('L5.2 the text %j has %d bytes and %d tokens', (text, bytes, tokens) => {
  expect(utf8Length(text)).toBe(bytes);
  expect(estimateTokens(text)).toBe(tokens);
});

test('L5.2 X10 reasoning is its words and its signature', () => {
  const priced = (text: string, meta: unknown): number =>
    estimateMessageTokens({
      role: 'assistant',
      content: [{ type: 'thinking', content: { text, meta } }],
      tool_call_id: null,
    });
  expect(priced('12345678', 'x'.repeat(18))).toBe(4 + 2 + 5);
  expect(priced('', null)).toBe(4 + 0 + 1);
});

test('L5.2 bytes are counted as Node does, lone surrogates included', () => {
  const unit = fc.oneof(
    fc.integer({ min: 0, max: 0xffff }),
    fc.integer({ min: 0xd800, max: 0xdfff }),
    fc.constantFrom(0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xdbff, 0xdc00, 0xdfff, 0xe000),
  );
  const wild = fc.array(unit).map((units) => String.fromCharCode(...units));
  fc.assert(
    fc.property(fc.oneof(wild, fc.string({ unit: 'binary' })), (text) => {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text, 'utf8'));
      expect(estimateTokens(text)).toBe(Math.ceil(Buffer.byteLength(text, 'utf8') / 4));
    }),
    { numRuns: 1000 },
  );
});

test.each([
  [0, 0, 85],
  [1, 1, 86],
  [750, 1, 86],
  [751, 1, 87],
  [1024, 768, 1134],
  [0.5, 0.5, 86],
  [-5, -5, 85],
  [-1024, 768, 85],
  [NaN, 768, 85],
  [1024, Infinity, 85],
  [-Infinity, -Infinity, 85],
])('L5.2 a picture of %d × %d has %d tokens', (width, height, tokens) => {
  expect(estimateImageTokens(width, height)).toBe(tokens);
});

test('L5.2 the two numbers of a picture are public', () => {
  expect([IMAGE_BASE_TOKENS, IMAGE_PIXEL_DIVISOR]).toEqual([85, 750]);
});

const picture = (width: number, height: number): ImageRef => ({
  attachment_id: 'ab'.repeat(32),
  media_type: 'image/png',
  width,
  height,
});

const pictures = [picture(1, 1), picture(1024, 768)];

const twoTexts: Message = {
  ...assistantText(''),
  content: [...assistantText('a').content, ...assistantText('b').content],
};

const call = (id: string, name: string, args: unknown): Message =>
  assistantToolCall({ id, name, args });

const twoCalls: Message = {
  role: 'assistant',
  content: [
    ...assistantText('ok').content,
    ...call('a', 'time', {}).content,
    ...call('b', 'time', null).content,
  ],
  tool_call_id: null,
};

test.each<[string, number, Message]>([
  ['no blocks', 4, { role: 'user', content: [], tool_call_id: null }],
  ['an empty text', 4, userMessage('')],
  ['a text', 4 + 2, userMessage('hello')],
  ['two texts', 4 + 1 + 1, twoTexts],
  ['a call', 4 + 10 + 3 + 4, call('call_1', 'read_file', { path: 'a.md' })],
  ['a call without arguments', 4 + 10 + 1 + 1, call('call_1', 'time', undefined)],
  ['a call with odd arguments', 4 + 10 + 1 + 5, call('c', 'time', { b: NaN, a: 12n })],
  ['words and two calls', 4 + 1 + (10 + 1 + 1) + (10 + 1 + 1), twoCalls],
  ['a result', 4 + 2 + 2, toolResultMessage('call_1', 'result')],
  ['a result for an empty id', 4 + 2, toolResultMessage('', 'result')],
  ['pictures', 4 + 1 + 86 + 1134, userMessageWithImages('see', pictures)],
  ['a result with pictures', 4 + 2 + 1 + 1220, toolResultWithImages('call_1', 'see', pictures)],
])('L5.2 a message of %s', (_, tokens, message) => {
  expect(estimateMessageTokens(message)).toBe(tokens);
});

test('L5.2 messages are priced one by one and summed', () => {
  const messages = [userMessage('hello'), assistantText('hi'), twoCalls];
  expect(estimateMessagesTokens([])).toBe(0);
  expect(estimateMessagesTokens(messages)).toBe(6 + 5 + 29);
  expect(estimateMessagesTokens(messages.values())).toBe(40);
  expect(estimateMessagesTokens(messages, (message) => message.content.length)).toBe(5);
});

test('L5.8 an estimator is in force for the run of a function and gives its result', () => {
  const messages = [userMessage('hello'), assistantText('hi')];
  const result = withMessageEstimator(
    () => 7,
    () => [estimateMessagesTokens(messages), estimateMessagesTokens(messages, () => 1)],
  );
  expect(result).toEqual([14, 2]);
  expect(estimateMessagesTokens(messages)).toBe(11);
});

test('L5.8 the former estimator is back after a throw, at every depth', () => {
  const price = (): number => messageEstimator()(userMessage(''));
  const fault = new Error('inside');
  const fails = (): never => {
    throw fault;
  };
  const seen = withMessageEstimator(
    () => 100,
    () => {
      expect(() => withMessageEstimator(() => 200, fails)).toThrow(fault);
      return [price(), withMessageEstimator(() => 300, price), price()];
    },
  );
  expect(seen).toEqual([100, 300, 100]);
  expect(() => withMessageEstimator(() => 400, fails)).toThrow(fault);
  expect(messageEstimator()).toBe(estimateMessageTokens);
});

test('L5.8 an estimator that throws in a pass leaves the next pass as it was', () => {
  const messages = [userMessage('hello')];
  const fails = (): never => {
    throw new Error('no price');
  };
  expect(() => withMessageEstimator(fails, () => trimContext(messages, 0, 9, 1, 1))).toThrow(
    'no price',
  );
  expect(trimContext(messages, 0, 6, 1, 1).messages).toEqual(messages);
  expect(messageEstimator()).toBe(estimateMessageTokens);
});

test('L5.8 what a function leaves running is priced by the former estimator', async () => {
  const later = withMessageEstimator(
    () => 100,
    async () => {
      const now = messageEstimator()(userMessage(''));
      await Promise.resolve();
      return [now, messageEstimator()(userMessage(''))];
    },
  );
  expect(messageEstimator()).toBe(estimateMessageTokens);
  expect(await later).toEqual([100, 4]);
});
