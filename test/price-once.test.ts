import { serdeJsonString, userMessage, type Message, type ToolCall } from '@celestea/core';
import { fitContext, trimContext } from '@celestea/agent-loop';
import { expect, test } from 'vitest';

/** Calls whose arguments tell how often they were written out, which is how a price is found. */
function countedCalls(count: number): { messages: Message[]; written: () => number } {
  let written = 0;
  const messages: Message[] = [userMessage('go')];
  for (let index = 0; index < count; index += 1) {
    const args = {
      toJSON: (): object => {
        written += 1;
        return { index };
      },
    };
    const content: ToolCall = { id: String(index), name: 'x', args };
    messages.push(
      { role: 'assistant', content: [{ type: 'tool_call', content }], tool_call_id: null },
      { role: 'tool', content: [{ type: 'text', content: 'y'.repeat(400) }], tool_call_id: content.id },
    );
  }
  return { messages, written: () => written };
}

test('L5.8 a message is priced once, in however many requests it is sent', () => {
  const { messages, written } = countedCalls(50);
  for (let pass = 0; pass < 20; pass += 1) trimContext(messages, 0, 1_000_000, 1, 10);
  expect(written()).toBe(50);
});

test('X7 what is left out of a long turn is rewritten and priced once, not at each step', () => {
  const { messages, written } = countedCalls(200);
  const first = fitContext(messages, 0, 12_000, 1, 10).messages;
  const writtenOnce = written();
  for (let pass = 0; pass < 20; pass += 1) fitContext(messages, 0, 12_000, 1, 10);
  expect(written()).toBe(writtenOnce);
  const again = fitContext(messages, 0, 12_000, 1, 10).messages;
  expect(again.every((message, index) => message === first[index])).toBe(true);
  expect(serdeJsonString(again)).toContain('result of 400 bytes left out');
});
