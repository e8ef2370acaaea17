import { deriveMessagesFrom, type SessionEvent } from '@celestea/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const lone = 'cut emoji \ud83d';
const whole = 'cut emoji \ufffd';

test('C4.5 what the model sees is well-formed Unicode, and the log is not touched', () => {
  const args = { [lone]: [lone, { deep: lone }], n: 1 };
  const rows: SessionEvent[] = [
    { type: 'user_message', text: lone },
    { type: 'assistant_message', text: lone, calls_follow: true },
    { type: 'tool_call', id: 'a', name: 'x', args },
    { type: 'tool_result', id: 'a', value: lone, error: lone },
    { type: 'assistant_message', text: lone },
  ];
  const before = structuredClone(rows);
  expect(deriveMessagesFrom(rows).map(({ content }) => content)).toEqual([
    [{ type: 'text', content: whole }],
    [
      { type: 'text', content: whole },
      {
        type: 'tool_call',
        content: { id: 'a', name: 'x', args: { [whole]: [whole, { deep: whole }], n: 1 } },
      },
    ],
    [{ type: 'text', content: `Error: ${whole}` }],
    [{ type: 'text', content: whole }],
  ]);
  expect(rows).toEqual(before);
});

test('C4.5 well-formed arguments stay the very object they are', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (args) => {
      const [message] = deriveMessagesFrom([{ type: 'tool_call', id: 'a', name: 'x', args }]);
      const block = message?.content[0];
      expect(block?.type === 'tool_call' ? block.content.args : undefined).toBe(args);
    }),
  );
});

test('C4.5 X10 what a model signed is sent well-formed, and as it is where it is so already', () => {
  const meta = { signature: 'c2ln' };
  const messages = deriveMessagesFrom([
    { type: 'thinking_delta', text: 'a\ud83d', meta: { signature: '\udc00' } },
    { type: 'tool_call', id: 'a', name: 'x\ud83d', args: {}, meta },
  ]);
  expect(messages[0]?.content).toEqual([
    { type: 'thinking', content: { text: 'a\ufffd', meta: { signature: '\ufffd' } } },
    { type: 'tool_call', content: { id: 'a', name: 'x\ufffd', args: {}, meta } },
  ]);
  const call = messages[0]?.content[1];
  expect(call?.type === 'tool_call' ? call.content.meta : null).toBe(meta);
});
