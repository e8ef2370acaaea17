import { setImmediate } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { DefaultAgentLoop } from '@celestea/agent-loop';
import {
  collectingSink,
  done,
  failingLlm,
  FakeSessionLog,
  say,
  ScriptedLlm,
  testContext,
  think,
} from '@celestea/agent-loop/testing';
import { defaultAgentConfig, LLM_SERVICE, LlmError, zeroUsage } from '@celestea/core';

/** One turn with a model that may do anything at all. */
async function runHostile(generate: unknown) {
  const log = new FakeSessionLog();
  const { sink, events } = collectingSink();
  const ctx = testContext({ llm: new ScriptedLlm([]), log }).provide(LLM_SERVICE, { generate });
  const loop = new DefaultAgentLoop(defaultAgentConfig(), { sink });
  const outcome = await loop.runTurnOutcome(ctx, 'go');
  await setImmediate(); // a rejection that nobody handles would come to light here
  return { outcome, rows: log.rows, events };
}

const thrower = (value: unknown) => (): never => {
  throw value;
};
const rejecting = (value: unknown) => () => Promise.resolve().then(thrower(value));
const someText: unknown = expect.stringMatching(/./);

const generateFaults: { name: string; generate: unknown; message: unknown }[] = [
  { name: 'throws', generate: thrower(new Error('no key')), message: 'no key' },
  { name: 'throws a string', generate: thrower('no key'), message: 'no key' },
  { name: 'throws undefined', generate: thrower(undefined), message: 'undefined' },
  { name: 'rejects', generate: rejecting(new Error('429')), message: '429' },
  {
    name: 'rejects with a stream error of its own',
    generate: rejecting(new LlmError('slow', 'stream')),
    message: 'slow',
  },
  { name: 'rejects with a string', generate: rejecting('429'), message: '429' },
  { name: 'rejects with undefined', generate: rejecting(undefined), message: 'undefined' },
  { name: 'rejects with null', generate: rejecting(null), message: 'null' },
  { name: 'rejects with a number', generate: rejecting(7), message: '7' },
  {
    name: 'rejects with what cannot be shown',
    generate: rejecting(Object.create(null)),
    message: someText,
  },
  {
    name: 'gives a thenable whose then throws',
    generate: () => ({ then: thrower(new Error('no then')) }),
    message: 'no then',
  },
  { name: 'is no function', generate: 'later', message: someText },
  { name: 'is missing', generate: undefined, message: someText },
];

/** What is no stream, given at once or as a promise. */
const noStreams: { name: string; value: () => unknown }[] = [
  { name: 'null', value: () => null },
  { name: 'undefined', value: () => undefined },
  { name: 'a string', value: () => 'data: {}' },
  { name: 'a number', value: () => 42 },
  { name: 'an array', value: () => say('hi') },
  { name: 'a synchronous generator', value: () => say('hi').values() },
  { name: 'a plain object', value: () => ({ next: () => Promise.resolve({ done: true }) }) },
  { name: 'an iterator that is no function', value: () => ({ [Symbol.asyncIterator]: {} }) },
  {
    name: 'an iterator behind a throwing getter',
    value: () => ({
      get [Symbol.asyncIterator]() {
        throw new Error('not readable');
      },
    }),
  },
];

const opened = [
  { type: 'turn_start', id: 'turn-0' },
  { type: 'user_message', text: 'go' },
];

describe('a generate that goes wrong', () => {
  test.each(generateFaults)('L2.6 generate $name', async ({ generate, message }) => {
    const { outcome, rows, events } = await runHostile(generate);
    expect(outcome).toEqual({ error: { kind: 'generate', message } });
    expect(rows).toEqual([...opened, { type: 'turn_end', id: 'turn-0', outcome }]);
    expect(events).toEqual([{ kind: 'turn_end', outcome }]);
  });

  test.each(
    noStreams.flatMap(({ name, value }) => [
      { name: `returns ${name}`, generate: value },
      { name: `resolves to ${name}`, generate: () => Promise.resolve(value()) },
    ]),
  )('L2.6 generate $name: error{generate}', async ({ generate }) => {
    const { outcome, rows, events } = await runHostile(generate);
    expect(outcome).toEqual({ error: { kind: 'generate', message: someText } });
    expect(rows).toEqual([...opened, { type: 'turn_end', id: 'turn-0', outcome }]);
    expect(events).toEqual([{ kind: 'turn_end', outcome }]);
  });

  test('L2.6 the double that throws and the one that rejects read the same', async () => {
    for (const how of ['throw', 'reject'] as const) {
      const llm = failingLlm('overloaded', how);
      const loop = new DefaultAgentLoop(defaultAgentConfig());
      const outcome = await loop.runTurnOutcome(testContext({ llm }), 'go');
      expect(outcome).toEqual({ error: { kind: 'generate', message: 'overloaded' } });
    }
  });

  test('L2.6 runTurn is runTurnOutcome with the outcome dropped', async () => {
    const log = new FakeSessionLog();
    const loop = new DefaultAgentLoop(defaultAgentConfig());
    const ctx = testContext({ llm: failingLlm(new Error('no key')), log });
    await expect(loop.runTurn(ctx, 'go')).resolves.toBeUndefined();
    expect(log.rows.at(-1)).toEqual({
      type: 'turn_end',
      id: 'turn-0',
      outcome: { error: { kind: 'generate', message: 'no key' } },
    });
  });
});

const iterated = (iterator: () => unknown) => () => ({ [Symbol.asyncIterator]: iterator });

const streamFaults: { name: string; generate: () => unknown; message: unknown }[] = [
  { name: 'cannot be opened', generate: iterated(thrower(new Error('shut'))), message: 'shut' },
  { name: 'has the iterator null', generate: iterated(() => null), message: someText },
  { name: 'has no next', generate: iterated(() => ({})), message: someText },
  {
    name: 'has a next that throws at once',
    generate: iterated(() => ({ next: thrower(new Error('torn')) })),
    message: 'torn',
  },
  {
    name: 'has a next that rejects with a string',
    generate: iterated(() => ({ next: rejecting('torn') })),
    message: 'torn',
  },
  {
    name: 'has a next that rejects with undefined',
    generate: iterated(() => ({ next: rejecting(undefined) })),
    message: 'undefined',
  },
  {
    name: 'has a next that returns a number',
    generate: iterated(() => ({ next: () => 5 })),
    message: someText,
  },
  {
    name: 'has a next that resolves to null',
    generate: iterated(() => ({ next: () => Promise.resolve(null) })),
    message: someText,
  },
  {
    name: 'has a next that resolves to an empty object',
    generate: iterated(() => ({ next: () => Promise.resolve({}) })),
    message: someText,
  },
  {
    name: 'has a result that cannot be read',
    generate: iterated(() => ({
      next: () => ({
        get done() {
          throw new Error('unreadable');
        },
      }),
    })),
    message: 'unreadable',
  },
];

describe('a stream that goes wrong', () => {
  test.each(streamFaults)('L2.6 a stream that $name: error{stream}', async (fault) => {
    const { outcome, rows, events } = await runHostile(fault.generate);
    expect(outcome).toEqual({ error: { kind: 'stream', message: fault.message } });
    expect(rows).toEqual([...opened, { type: 'turn_end', id: 'turn-0', outcome }]);
    expect(events).toEqual([{ kind: 'turn_end', outcome }]);
  });

  test('L2.6 a next that returns its result without a promise is read all the same', async () => {
    const results = [...say('hi').map((value) => ({ done: false, value })), { done: true }];
    const next = () => results.shift();
    const { outcome, rows } = await runHostile(iterated(() => ({ next })));
    expect(outcome).toBe('completed');
    expect(rows[2]).toEqual({ type: 'assistant_message', text: 'hi' });
  });
});

const doneWith = (...content: unknown[]) => ({ kind: 'done', message: { content } });
const throwingGetter = (field: string, rest: object = {}): unknown =>
  Object.defineProperty({ ...rest }, field, { get: thrower(new Error('unreadable')) });

const malformed: [string, unknown][] = [
  ['null', null],
  ['undefined', undefined],
  ['a number', 42],
  ['a string', 'text'],
  ['an array', []],
  ['an object without a kind', {}],
  ['an unknown kind', { kind: 'delta', text: 'x' }],
  ['text without text', { kind: 'text' }],
  ['text with a number', { kind: 'text', text: 5 }],
  ['thinking with null', { kind: 'thinking', text: null }],
  ['usage without counters', { kind: 'usage' }],
  ['usage with null', { kind: 'usage', usage: null }],
  ['usage with a counter left out', { kind: 'usage', usage: { prompt_tokens: 1 } }],
  ['usage with a text counter', { kind: 'usage', usage: { ...zeroUsage(), cache_read: '1' } }],
  ['done without a message', { kind: 'done' }],
  ['done with null', { kind: 'done', message: null }],
  ['done with a text', { kind: 'done', message: 'hi' }],
  ['done without content', { kind: 'done', message: { role: 'assistant' } }],
  ['done with a text as content', { kind: 'done', message: { content: 'hi' } }],
  ['done with a null block', doneWith(null)],
  ['done with a block without text', doneWith({ type: 'text' })],
  ['done with an unknown block', doneWith({ type: 'audio', content: 'x' })],
  ['done with an empty call', doneWith({ type: 'tool_call' })],
  ['done with a call without a name', doneWith({ type: 'tool_call', content: { id: 'a' } })],
  ['failed without a message', { kind: 'failed', kindOf: 'stream' }],
  ['failed without a kind', { kind: 'failed', message: 'x' }],
  ['failed with a foreign kind', { kind: 'failed', kindOf: 'timeout', message: 'x' }],
  ['a kind that cannot be read', throwingGetter('kind')],
  ['a text that cannot be read', throwingGetter('text', { kind: 'text' })],
  ['a message that cannot be read', throwingGetter('message', { kind: 'done' })],
];

describe('an event that is malformed', () => {
  test.each(malformed)('L2.6 L3.6 %s: error{stream}, thinking kept, closed', async (_, bad) => {
    const left = [think('hm'), { kind: 'text', text: 'so' }, think('er'), bad, done('never')];
    let closed = 0;
    const { outcome, rows, events } = await runHostile(
      iterated(() => ({
        next: () => Promise.resolve({ done: left.length === 0, value: left.shift() }),
        return: () => {
          closed += 1;
          return Promise.resolve({ done: true });
        },
      })),
    );
    expect(outcome).toEqual({ error: { kind: 'stream', message: someText } });
    expect(rows).toEqual([
      ...opened,
      { type: 'thinking_delta', text: 'hm' },
      { type: 'thinking_delta', text: 'er' },
      { type: 'turn_end', id: 'turn-0', outcome },
    ]);
    expect(events).toEqual([
      { kind: 'thinking', delta: 'hm' },
      { kind: 'text', delta: 'so' },
      { kind: 'thinking', delta: 'er' },
      { kind: 'turn_end', outcome },
    ]);
    expect(closed).toBe(1);
    expect(left).toEqual([done('never')]);
  });
});
