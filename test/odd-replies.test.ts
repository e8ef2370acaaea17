import type { SessionEvent } from '@celestea/core';
import { DefaultAgentLoop, defaultAgentConfig } from '@celestea/agent-loop';
import { FakeSessionLog, FakeToolRegistry, say, testContext } from '@celestea/agent-loop/testing';
import { expect, test } from 'vitest';

/** A turn whose model sends these values first and `ok` then. */
async function play(values: readonly unknown[]): Promise<{ outcome: unknown; rows: SessionEvent[] }> {
  const log = new FakeSessionLog();
  const scripts: (readonly unknown[])[] = [values, say('ok')];
  let request = 0;
  const generate = (): unknown => {
    const script = scripts[request] ?? [];
    request += 1;
    return (async function* stream() {
      for (const value of script) yield await Promise.resolve(value);
    })();
  };
  const tools = new FakeToolRegistry({ x: () => 1 });
  const ctx = testContext({ llm: { generate: generate as never }, log, tools });
  const outcome = await new DefaultAgentLoop(defaultAgentConfig()).runTurnOutcome(ctx, 'hi');
  return { outcome, rows: log.rows };
}

const done = (...content: unknown[]): unknown => ({ kind: 'done', message: { content } });
const call = (parts: object): unknown => ({ type: 'tool_call', content: { name: 'x', ...parts } });
const callRows = (rows: readonly SessionEvent[]): unknown[] =>
  rows.filter((row) => row.type === 'tool_call');

test.each<[string, unknown]>([
  ['a bigint', 5n],
  ['an object whose toJSON throws', { toJSON: () => { throw new Error('no'); } }],
  ['a symbol', Symbol('id')],
])('L2.6 X11 a call id that is %s is replaced', async (_, id) => {
  const { outcome, rows } = await play([done(call({ id, args: {} }))]);
  expect(outcome).toBe('completed');
  expect(callRows(rows)).toEqual([{ type: 'tool_call', id: 'call-turn-0-0', name: 'x', args: {} }]);
});

test.each<[string, object]>([
  ['args', { get args(): never { throw new SyntaxError('cut off'); } }],
  ['meta', { args: {}, get meta(): never { throw new SyntaxError('cut off'); } }],
])('L2.6 a getter of %s that throws is the model fault, not the log one', async (_, parts) => {
  const content = Object.defineProperties({ name: 'x', id: 'a' }, Object.getOwnPropertyDescriptors(parts));
  const { outcome } = await play([done({ type: 'tool_call', content })]);
  expect(outcome).toEqual({
    error: { kind: 'stream', message: 'malformed stream event: cut off' },
  });
});

test('L2.6 each field of an event is read once', async () => {
  let reads = 0;
  const event = {
    kind: 'text',
    get text(): unknown {
      reads += 1;
      return reads === 1 ? 'once' : 42;
    },
  };
  const { outcome } = await play([event, ...say('.')]);
  expect(outcome).toBe('completed');
  expect(reads).toBe(1);
});

test('X10 a done message may hold the reasoning that was streamed, as a request does', async () => {
  const thinking = { type: 'thinking', content: { text: 'hm', meta: 'sig' } };
  const { outcome, rows } = await play([done(thinking, { type: 'text', content: 'Hi.' })]);
  expect(outcome).toBe('completed');
  expect(rows.at(-2)).toEqual({ type: 'assistant_message', text: 'Hi.' });
});

test('L2.6 a block that is none is named', async () => {
  const { outcome } = await play([done({ type: 'text', content: 'a' }, { type: 'video' })]);
  const message = 'malformed done event: message.content[1]: expected a block, got an object';
  expect(outcome).toEqual({ error: { kind: 'stream', message } });
});

test('L4.4 a call without a name gets one that no tool has, for providers refuse the empty one', async () => {
  const { outcome, rows } = await play([done(call({ id: 'a', name: '', args: {} }))]);
  expect(outcome).toBe('completed');
  expect(callRows(rows)).toEqual([{ type: 'tool_call', id: 'a', name: 'unnamed_tool', args: {} }]);
});
