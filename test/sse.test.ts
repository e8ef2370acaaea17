import type { LoopEvent } from '@celestea/core';
import { expect, test } from 'vitest';

import contract from '../contracts/sse-events.json' with { type: 'json' };
import { loopEventToSse, type SseFrame } from '../src/sse.ts';

const result = { kind: 'tool_result', callId: 'c1', render: null, decision: null } as const;

const TABLE: [LoopEvent, SseFrame][] = [
  [{ kind: 'text', delta: 'Hi' }, { event: 'text', payload: { delta: 'Hi' } }],
  [{ kind: 'thinking', delta: 'hm' }, { event: 'thinking', payload: { delta: 'hm' } }],
  [
    { kind: 'tool_call', id: 'c1', name: 'time', args: { zone: 'UTC' } },
    { event: 'tool', payload: { id: 'c1', name: 'time', args: { zone: 'UTC' } } },
  ],
  [
    { ...result, ok: true, value: { n: 1 }, render: 'one', error: null, decision: 'allow' },
    {
      event: 'tool_result',
      payload: {
        id: 'c1',
        ok: true,
        value: { n: 1 },
        render: 'one',
        error: null,
        decision: 'allow',
      },
    },
  ],
  [
    { ...result, ok: false, value: null, error: 'no file' },
    {
      event: 'tool_result',
      payload: {
        id: 'c1',
        ok: false,
        value: null,
        render: null,
        error: 'no file',
        decision: null,
      },
    },
  ],
  [
    { kind: 'done', text: 'Hi', tool_calls: [{ id: 'c1', name: 'time', args: 1 }] },
    { event: 'done', payload: { text: 'Hi', tool_calls: [{ id: 'c1', name: 'time', args: 1 }] } },
  ],
  [
    { kind: 'turn_end', outcome: 'completed' },
    { event: 'turn_end', payload: { outcome: 'completed', error: null } },
  ],
  [
    { kind: 'turn_end', outcome: 'cancelled' },
    { event: 'turn_end', payload: { outcome: 'cancelled', error: null } },
  ],
  [
    { kind: 'turn_end', outcome: 'step_limit' },
    { event: 'turn_end', payload: { outcome: 'step_limit', error: null } },
  ],
  [
    { kind: 'turn_end', outcome: 'interrupted' },
    { event: 'turn_end', payload: { outcome: 'interrupted', error: null } },
  ],
  [
    { kind: 'turn_end', outcome: { error: { kind: 'generate', message: 'no key' } } },
    { event: 'turn_end', payload: { outcome: 'error', error: 'generate: no key' } },
  ],
  [
    { kind: 'turn_end', outcome: { error: { kind: 'stream', message: '' } } },
    { event: 'turn_end', payload: { outcome: 'error', error: 'stream: ' } },
  ],
];

test.each(TABLE)('L7.4 the frame of %j', (event, frame) => {
  Object.freeze(event);
  expect(loopEventToSse(event)).toEqual(frame);
});

test('L7.4 payloads have the fields of the contract, in its order', () => {
  const fields = new Map<string, string[]>(
    Object.entries(contract.events).map(([name, { payload }]) => [name, payload.required]),
  );
  for (const [event] of TABLE) {
    const frame = loopEventToSse(event);
    expect(Object.keys(frame)).toEqual(['event', 'payload']);
    expect(Object.keys(frame.payload)).toEqual(fields.get(frame.event));
  }
});

test('L7.4 the contract names the events of the loop, and each has a frame', () => {
  const fromLoop = Object.entries(contract.events)
    .filter(([, { source }]) => source === 'loop')
    .map(([name]) => name);
  expect(fromLoop).toEqual(['text', 'thinking', 'tool', 'tool_result', 'turn_end', 'done']);
  const framed = new Set(TABLE.map(([event]) => loopEventToSse(event).event));
  expect([...framed].sort()).toEqual(fromLoop.sort());
});
