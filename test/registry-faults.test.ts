import { setImmediate } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { DefaultAgentLoop } from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  collectingSink,
  FakeSessionLog,
  say,
  ScriptedLlm,
  testContext,
} from '@celestea/agent-loop/testing';
import { defaultAgentConfig, TOOL_REGISTRY_SERVICE, type ToolInput } from '@celestea/core';

const call = (id: string) => ({ id, name: 'echo', args: { of: id } });

/** A step with the calls of these ids on a registry that may do anything, and then a reply. */
async function runHostile(ids: string[], dispatch: unknown, width = 4) {
  const log = new FakeSessionLog();
  const { sink, events } = collectingSink();
  const llm = new ScriptedLlm([callTools(...ids.map(call)), say('hi')]);
  const ctx = testContext({ llm, log });
  ctx.provide(TOOL_REGISTRY_SERVICE, { schemas: () => [], dispatch });
  const config = defaultAgentConfig({ max_parallel_tool_calls: width });
  const outcome = await new DefaultAgentLoop(config, { sink }).runTurnOutcome(ctx, 'go');
  await setImmediate(); // an unhandled rejection fails the run
  assertLogValid(log.rows);
  return {
    outcome,
    calls: log.rows.filter((row) => row.type === 'tool_call'),
    results: log.rows.filter((row) => row.type === 'tool_result'),
    events: events.filter((event) => event.kind === 'tool_result'),
  };
}

const good = ({ call_id, args }: ToolInput) => ({
  call_id,
  value: args,
  render: null,
  error: null,
  decision: null,
});
const asked = { call_id: 'b', name: 'echo', args: { of: 'b' } };
const output = (fields: object) => () => Promise.resolve({ ...good(asked), ...fields });
const thrower = (value: unknown) => (): never => {
  throw value;
};
const rejecting = (value: unknown) => () => Promise.resolve().then(thrower(value));
const someText: unknown = expect.stringMatching(/./);

/** What a registry may do with the middle one of three calls, and what is filed for it. */
const faults: { name: string; dispatch: () => unknown; value?: unknown; error: unknown }[] = [
  { name: 'null', dispatch: () => Promise.resolve(null), error: someText },
  { name: 'undefined', dispatch: () => Promise.resolve(undefined), error: someText },
  { name: 'a string', dispatch: () => Promise.resolve('noon'), error: someText },
  { name: 'a number', dispatch: () => Promise.resolve(12), error: someText },
  { name: 'an array', dispatch: () => Promise.resolve([good(asked)]), error: someText },
  { name: 'a function', dispatch: () => Promise.resolve(() => good(asked)), error: someText },
  { name: 'null without a promise', dispatch: () => null, error: someText },
  { name: 'undefined without a promise', dispatch: () => undefined, error: someText },
  {
    name: 'an output without a promise',
    dispatch: () => good(asked),
    value: { of: 'b' },
    error: null,
  },
  {
    name: 'a foreign id',
    dispatch: output({ call_id: 'a', value: 'mine' }),
    value: 'mine',
    error: null,
  },
  {
    name: 'an id that is no text',
    dispatch: output({ call_id: {}, value: 'mine' }),
    value: 'mine',
    error: null,
  },
  { name: 'an empty error', dispatch: output({ value: null, error: '' }), error: someText },
  {
    name: 'an undefined error',
    dispatch: output({ value: 1, error: undefined }),
    value: 1,
    error: null,
  },
  {
    name: 'an Error as error',
    dispatch: output({ value: null, error: new Error('no disk') }),
    error: 'no disk',
  },
  {
    name: 'an Error without a message',
    dispatch: output({ value: null, error: new Error('') }),
    error: someText,
  },
  { name: 'an object as error', dispatch: output({ value: null, error: {} }), error: someText },
  { name: 'an undefined value', dispatch: output({ value: undefined }), error: null },
  { name: 'nothing but an id', dispatch: () => Promise.resolve({ call_id: 'b' }), error: null },
  {
    name: 'a getter that throws',
    dispatch: () =>
      Promise.resolve({
        ...good(asked),
        get value() {
          throw new Error('unreadable');
        },
      }),
    error: 'unreadable',
  },
  { name: 'a throw', dispatch: thrower(new Error('no pool')), error: 'no pool' },
  { name: 'a throw of a string', dispatch: thrower('no pool'), error: 'no pool' },
  { name: 'a throw of an empty string', dispatch: thrower(''), error: someText },
  { name: 'a throw of undefined', dispatch: thrower(undefined), error: someText },
  { name: 'a rejection', dispatch: rejecting(new Error('no pool')), error: 'no pool' },
  { name: 'a rejection with undefined', dispatch: rejecting(undefined), error: someText },
  { name: 'an empty rejection', dispatch: rejecting(new Error('')), error: someText },
  {
    name: 'a rejection that cannot be shown',
    dispatch: rejecting(Object.create(null)),
    error: someText,
  },
  {
    name: 'a thenable that throws',
    dispatch: () => ({ then: thrower(new Error('no then')) }),
    error: 'no then',
  },
];

describe('a registry that breaks its contract', () => {
  test.each(faults)('L4.6 $name: contained, siblings untouched', async (fault) => {
    const { value = null, error, dispatch } = fault;
    for (const width of [1, 4]) {
      const run = await runHostile(
        ['a', 'b', 'c'],
        (input: ToolInput) => (input.call_id === 'b' ? dispatch() : Promise.resolve(good(input))),
        width,
      );
      expect(run.outcome).toBe('completed');
      expect(run.results).toEqual([
        { type: 'tool_result', id: 'a', value: { of: 'a' }, error: null },
        { type: 'tool_result', id: 'b', value, error },
        { type: 'tool_result', id: 'c', value: { of: 'c' }, error: null },
      ]);
      expect(run.events[1]).toEqual({
        kind: 'tool_result',
        callId: 'b',
        ok: error === null,
        value,
        render: null,
        error,
        decision: null,
      });
      expect(run.events.map((event) => event.callId)).toEqual(['a', 'b', 'c']);
    }
  });

  test.each(['late', undefined, null])('L4.6 a dispatch that is %s', async (dispatch) => {
    const { outcome, results } = await runHostile(['a', 'b'], dispatch);
    expect(outcome).toBe('completed');
    expect(results).toEqual([
      { type: 'tool_result', id: 'a', value: null, error: someText },
      { type: 'tool_result', id: 'b', value: null, error: someText },
    ]);
  });

  test('L4.6 outputs that swap their ids are filed by position', async () => {
    const { results } = await runHostile(['a', 'b'], (input: ToolInput) =>
      Promise.resolve({ ...good(input), call_id: input.call_id === 'a' ? 'b' : 'a' }),
    );
    expect(results).toEqual([
      { type: 'tool_result', id: 'a', value: { of: 'a' }, error: null },
      { type: 'tool_result', id: 'b', value: { of: 'b' }, error: null },
    ]);
  });

  test('L4.6 two calls with one id get a result each, by position', async () => {
    let count = 0;
    const { outcome, calls, results, events } = await runHostile(['x', 'x'], (input: ToolInput) => {
      count += 1;
      return Promise.resolve({ ...good(input), value: count });
    });
    expect(outcome).toBe('completed');
    expect(results.map((row) => row.value)).toEqual([1, 2]);
    expect(events.map((event) => event.value)).toEqual([1, 2]);
    expect(results.map((row) => row.id)).toEqual(calls.map((row) => row.id));
  });

  test.each([
    { decision: { kind: 'allow' }, label: 'allow' },
    { decision: { kind: 'deny', reason: 'no' }, label: 'deny' },
    { decision: { kind: 'ask', reason: 'sure?' }, label: 'ask' },
    { decision: { kind: 'perhaps' }, label: null },
    { decision: 'allow', label: null },
    { decision: undefined, label: null },
  ])('L4.6 the decision $decision is told as $label', async ({ decision, label }) => {
    const { events } = await runHostile(['b'], output({ decision, render: '12:00' }));
    expect(events[0]).toMatchObject({ decision: label, render: '12:00', ok: true });
  });

  test('L4.6 a render that is no text is dropped', async () => {
    const { events } = await runHostile(['b'], output({ render: { html: '' } }));
    expect(events[0]).toMatchObject({ render: null, ok: true });
  });
});
