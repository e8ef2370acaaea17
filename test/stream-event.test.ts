import { expect, test } from 'vitest';

import { readEvent } from '../src/stream-event.ts';

const message = (...content: unknown[]) => ({ role: 'assistant', content, tool_call_id: null });
const done = (...content: unknown[]) => ({ kind: 'done', message: message(...content) });

/** What a wrong event is told as; each says what was expected and what came. */
const malformed: readonly (readonly [event: unknown, says: string])[] = [
  [null, 'stream event: expected an object, got null'],
  ['text', 'stream event: expected an object, got "text"'],
  [[], 'stream event: expected an object, got an array'],
  [
    { kind: 'words' },
    'stream event: kind: expected text, thinking, usage, done, failed, interrupted, got "words"',
  ],
  [{ kind: 'text', text: 1 }, 'text event: text: expected a string, got 1'],
  [{ kind: 'thinking', text: null }, 'thinking event: text: expected a string, got null'],
  [{ kind: 'usage', usage: 7 }, 'usage event: usage: expected five counters, got 7'],
  [{ kind: 'usage', usage: {} }, 'usage event: usage: expected five counters, got an object'],
  [{ kind: 'failed' }, 'failed event: message: expected a string, got undefined'],
  [
    { kind: 'failed', message: 'x', kindOf: 'timeout' },
    'failed event: kindOf: expected generate or stream, got "timeout"',
  ],
  [{ kind: 'done' }, 'done event: message: expected an assistant message, got undefined'],
  [
    { kind: 'done', message: { content: 'x' } },
    'done event: message: expected an assistant message, got an object',
  ],
  [done(null), 'done event: message.content[0]: expected a block, got null'],
  [
    done({ type: 'text', content: 'a' }, { type: 'text', content: 1 }),
    'done event: message.content[1]: expected a block, got an object',
  ],
  [done({ type: 'words' }), 'done event: message.content[0]: expected a block, got an object'],
  [
    done({ type: 'other', content: { id: 'a', name: 'x', args: {} } }),
    'done event: message.content[0]: expected a block, got an object',
  ],
  [
    done({ type: 'tool_call', content: { id: 'a' } }),
    'done event: message.content[0]: expected a block, got an object',
  ],
  [done({ type: 'tool_call' }), 'done event: message.content[0]: expected a block, got an object'],
];

test.each(malformed)('L2.6 a malformed event says what was expected and what came (%#)', (event, says) => {
  expect(readEvent(event)).toEqual({ kind: 'malformed', message: `malformed ${says}` });
});

test('X10 a call keeps what its provider wants back, and nothing is put in its place', () => {
  const call = (more: object) => ({ type: 'tool_call', content: { id: 'a', name: 'x', ...more } });
  const read = readEvent(done(call({ meta: 's' }), call({ meta: null }), call({}), call({ meta: 0 })));
  expect(read).toStrictEqual({
    kind: 'done',
    text: '',
    calls: [
      { id: 'a', name: 'x', args: null, meta: 's' },
      { id: 'a', name: 'x', args: null },
      { id: 'a', name: 'x', args: null },
      { id: 'a', name: 'x', args: null, meta: 0 },
    ],
    finish: undefined,
  });
});

test('C1.1 pictures and reasoning in a reply are passed over', () => {
  const blocks = [
    { type: 'image', content: {} },
    { type: 'text', content: 'a' },
    { type: 'thinking', content: {} },
    { type: 'text', content: 'b' },
  ];
  expect(readEvent(done(...blocks))).toMatchObject({ kind: 'done', text: 'ab', calls: [] });
});
