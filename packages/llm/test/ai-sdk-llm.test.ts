import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { messageToolCalls, type StreamEvent } from '@celestea/core';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { aiSdkLlm } from '../src/index.ts';
import {
  call,
  collect,
  finish,
  requestOf,
  scriptedModel,
  text,
  usageOf,
  type ScriptStep,
} from './support/v3-model.ts';

afterEach(() => {
  vi.useRealTimers();
});

const run = async (steps: readonly ScriptStep[], options = {}) =>
  collect(await aiSdkLlm(scriptedModel(steps).model, options).generate(requestOf()));

const doneOf = (events: readonly StreamEvent[]) => events.find((event) => event.kind === 'done');

describe('a reply', () => {
  test('C2.2 is its texts, its usage once, and a done with all of it', async () => {
    const usage = {
      inputTokens: { total: 11, noCache: 8, cacheRead: 3, cacheWrite: 0 },
      outputTokens: { total: 7, text: 5, reasoning: 2 },
    };
    const { events, thrown } = await run([
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r' },
      { type: 'text-start', id: 't' },
      text('Hel'),
      text(''),
      text('lo.'),
      { type: 'text-end', id: 't' },
      finish('stop', 'stop', usage),
    ]);
    expect(thrown).toBe(null);
    expect(events).toEqual([
      { kind: 'text', text: 'Hel' },
      { kind: 'text', text: 'lo.' },
      {
        kind: 'usage',
        usage: {
          prompt_tokens: 11,
          completion_tokens: 7,
          total_tokens: 18,
          cache_read: 3,
          reasoning_tokens: 2,
        },
      },
      {
        kind: 'done',
        finish: 'stop',
        message: {
          role: 'assistant',
          content: [{ type: 'text', content: 'Hello.' }],
          tool_call_id: null,
        },
      },
    ]);
  });

  test('C2.2 usage that was not reported is not told, nor are counts that are none', async () => {
    expect((await run([finish()])).events.map(({ kind }) => kind)).toEqual(['done']);
    const { events } = await run([finish('stop', 'stop', usageOf(Number.NaN, 4.7))]);
    expect(events[0]).toMatchObject({
      usage: { prompt_tokens: 0, completion_tokens: 4, total_tokens: 4 },
    });
  });

  test('X8 the finish reason is passed on', async () => {
    const table = [
      ['stop', 'end_turn', 'stop'],
      ['tool-calls', 'tool_use', 'tool_calls'],
      ['length', 'max_tokens', 'length'],
      ['content-filter', 'SAFETY', 'content_filter'],
      ['content-filter', 'refusal', 'refusal'],
      ['other', 'sensitive', 'content_filter'],
      ['other', 'odd', 'other'],
    ] as const;
    for (const [unified, raw, expected] of table) {
      const { events } = await run([text('a'), finish(unified, raw)]);
      expect(doneOf(events)).toMatchObject({ finish: expected });
    }
  });

  test('C2.2 calls come in order, with their arguments read; none means {}', async () => {
    const { events } = await run([
      call('a', '{"path":["x",{"n":1}]}'),
      call('b', ''),
      call('c', ' '),
      call('d', '{"path":'),
      { ...call('own', '{}'), providerExecuted: true } as LanguageModelV3StreamPart,
      finish('tool-calls'),
    ]);
    expect(doneOf(events)).toMatchObject({
      finish: 'tool_calls',
      message: {
        content: [
          {
            type: 'tool_call',
            content: { id: 'a', name: 'look', args: { path: ['x', { n: 1 }] } },
          },
          { type: 'tool_call', content: { id: 'b', args: {} } },
          { type: 'tool_call', content: { id: 'c', args: {} } },
          { type: 'tool_call', content: { id: 'd', args: '{"path":' } },
        ],
      },
    });
  });

  test('X11 a call that comes twice, the same id, name and arguments, is one', async () => {
    const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    const { events } = await run([
      call('a', '{"x":{"p":1,"q":2},"y":[1,{"n":null}]}'),
      call('a', '{"y":[1,{"n":null}],"x":{"q":2,"p":1.0}}'),
      call('a', '{"x":{"p":1,"q":2},"y":[{"n":null},1]}'),
      call('b', ''),
      call('b', '{}'),
      call('c', '{"pa'),
      call('c', '{"pa'),
      call('deep', deep),
      call('deep', deep),
      call('', '{}'),
      call('', '{}'),
      call('a', '{"x":{"p":1,"q":2},"y":[1,{"n":null}]}', { toolName: 'other' }),
      finish('tool-calls'),
    ]);
    const message = doneOf(events)?.message;
    const ids = message === undefined ? [] : messageToolCalls(message).map(({ id }) => id);
    expect(ids).toEqual(['a', 'a', 'b', 'c', 'deep', '', '', 'a']);
  });

  test('X8 calls of a reply that was cut come with the reason, so that none is run', async () => {
    const { events } = await run([call('a', '{"pa'), finish('length')]);
    expect(doneOf(events)).toMatchObject({ finish: 'length' });
  });

  test('C2.2 calls are told though the provider calls their end a stop', async () => {
    const { events } = await run([call('a', '{}'), finish('stop', 'stop')]);
    expect(doneOf(events)).toMatchObject({ message: { content: [{ type: 'tool_call' }] } });
  });
});

describe('signed reasoning', () => {
  const signature = (value: string) => ({ test: { signature: value } });

  test('X10 reasoning is told as it comes, its signature at its end', async () => {
    const { events } = await run([
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'I ' },
      { type: 'reasoning-delta', id: '0', delta: 'think.' },
      { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: signature('s1') },
      { type: 'reasoning-end', id: '0', providerMetadata: { test: { part: 2 } } },
      { type: 'reasoning-start', id: '1', providerMetadata: { test: { redactedData: 'r' } } },
      { type: 'reasoning-end', id: '1' },
      text('So.'),
      finish(),
    ]);
    expect(events.slice(0, 5)).toEqual([
      { kind: 'thinking', text: 'I ' },
      { kind: 'thinking', text: 'think.' },
      {
        kind: 'thinking',
        text: '',
        meta: { provider: 'test.chat', metadata: { test: { signature: 's1', part: 2 } } },
      },
      {
        kind: 'thinking',
        text: '',
        meta: { provider: 'test.chat', metadata: { test: { redactedData: 'r' } } },
      },
      { kind: 'text', text: 'So.' },
    ]);
  });

  test('X10 a block that was not closed is closed before the done', async () => {
    const { events } = await run([
      { type: 'reasoning-delta', id: '0', delta: 'x', providerMetadata: signature('s') },
      finish(),
    ]);
    expect(events.map(({ kind }) => kind)).toEqual(['thinking', 'thinking', 'done']);
    expect(events[1]).toMatchObject({ meta: { metadata: signature('s') } });
  });

  test('X10 unsigned reasoning has no meta, unless it has to go back', async () => {
    const steps: ScriptStep[] = [
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'x' },
      { type: 'reasoning-end', id: '0' },
      finish(),
    ];
    expect((await run(steps)).events[0]).toEqual({ kind: 'thinking', text: 'x' });
    expect((await run(steps)).events).toHaveLength(2);
    const { events } = await run(steps, { returnReasoning: true });
    expect(events[1]).toEqual({ kind: 'thinking', text: '', meta: { provider: 'test.chat' } });
  });

  test('X10 what the provider wants back with a call is its meta', async () => {
    const { events } = await run([
      call('a', '{}', { providerMetadata: { google: { thoughtSignature: 'sig' } } }),
      finish('tool-calls'),
    ]);
    expect(doneOf(events)).toMatchObject({
      message: {
        content: [
          {
            content: {
              meta: { provider: 'test.chat', metadata: { google: { thoughtSignature: 'sig' } } },
            },
          },
        ],
      },
    });
  });
});

describe('limits and aborts', () => {
  test('X2 an abort before, at the beginning and in the stream throws its reason', async () => {
    const reason = { why: 'mine' };
    const hanging = scriptedModel([text('a'), { type: 'hang' }]);
    await expect(
      aiSdkLlm(hanging.model).generate(requestOf(), { signal: AbortSignal.abort(reason) }),
    ).rejects.toBe(reason);

    const deaf = { ...hanging.model, doStream: () => new Promise<never>(() => undefined) };
    const first = new AbortController();
    const opened = aiSdkLlm(deaf).generate(requestOf(), { signal: first.signal });
    first.abort(reason);
    await expect(opened).rejects.toBe(reason);

    const second = new AbortController();
    const stream = await aiSdkLlm(hanging.model).generate(requestOf(), { signal: second.signal });
    const events = collect(stream);
    await new Promise(setImmediate);
    second.abort(reason);
    expect(await events).toEqual({ events: [{ kind: 'text', text: 'a' }], thrown: reason });
    expect(hanging.asked.at(-1)?.abortSignal?.aborted).toBe(true);
  });

  test('X2 a stream that comes after the abort is closed', async () => {
    const late = scriptedModel([{ type: 'hang' }]);
    let resolve = (): void => undefined;
    const promise = new Promise<void>((settle) => {
      resolve = settle;
    });
    const model = {
      ...late.model,
      doStream: async (options: Parameters<typeof late.model.doStream>[0]) => {
        await promise;
        return late.model.doStream(options);
      },
    };
    const abort = new AbortController();
    const opened = aiSdkLlm(model).generate(requestOf(), { signal: abort.signal });
    await new Promise(setImmediate);
    abort.abort(new Error('gone'));
    await expect(opened).rejects.toThrow('gone');
    resolve();
    await vi.waitUntil(() => late.cancelled() === 1);
  });

  test('C2.3 leaving early ends the request', async () => {
    const { model, asked, cancelled } = scriptedModel([text('a'), text('b'), { type: 'hang' }]);
    for await (const event of await aiSdkLlm(model).generate(requestOf())) {
      expect(event).toEqual({ kind: 'text', text: 'a' });
      break;
    }
    expect(asked[0]?.abortSignal?.aborted).toBe(true);
    await vi.waitUntil(() => cancelled() === 1);
  });

  test('C2.3 a read that waits ends when the iteration is left', async () => {
    const { model } = scriptedModel([{ type: 'hang' }]);
    const stream = (await aiSdkLlm(model).generate(requestOf()))[Symbol.asyncIterator]();
    const waiting = stream.next();
    await stream.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  test('C2.4 a provider that does not answer, or falls silent, times out', async () => {
    vi.useFakeTimers();
    const { model, asked } = scriptedModel([text('a'), { type: 'hang' }]);
    const deaf = { ...model, doStream: () => new Promise<never>(() => undefined) };
    const opened = aiSdkLlm(deaf, { timeouts: { responseMs: 50 } }).generate(requestOf());
    const failed = expect(opened).rejects.toMatchObject({
      kind: 'timeout',
      isTimeout: true,
      timeoutStage: 'response',
      retryable: true,
      message: 'the provider did not answer for 50 ms',
    });
    await vi.advanceTimersByTimeAsync(50);
    await failed;

    const stream = await aiSdkLlm(model, { timeouts: { idleMs: 70 } }).generate(requestOf());
    const collected = collect(stream);
    await vi.advanceTimersByTimeAsync(70);
    const { events, thrown } = await collected;
    expect(events).toEqual([{ kind: 'text', text: 'a' }]);
    expect(thrown).toMatchObject({
      timeoutStage: 'idle',
      message: 'the provider sent nothing for 70 ms',
    });
    expect(asked[0]?.abortSignal?.aborted).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('C2.3 a reply that is over lets the stream run out, and gives up waiting for its close', async () => {
    vi.useFakeTimers();
    const { model, cancelled } = scriptedModel([finish(), { type: 'hang' }]);
    const { events } = await collect(await aiSdkLlm(model).generate(requestOf()));
    expect(events).toHaveLength(1);
    expect(cancelled()).toBe(0);
    await vi.advanceTimersByTimeAsync(1000);
    expect(cancelled()).toBe(1);
  });
});

describe('options', () => {
  const { model } = scriptedModel([]);
  const wrong: readonly (readonly [string, unknown, string])[] = [
    ['options', 3, 'options: expected an object, got'],
    ['attachments', { attachments: {} }, 'attachments: expected an object with a read function'],
    ['providerOptions', { providerOptions: 'x' }, 'providerOptions: expected an object'],
    ['timeouts', { timeouts: 5 }, 'timeouts: expected an object'],
    [
      'responseMs',
      { timeouts: { responseMs: Number.NaN } },
      'timeouts.responseMs: expected a number of milliseconds, 0 or more',
    ],
    ['idleMs', { timeouts: { idleMs: -1 } }, 'timeouts.idleMs: expected a number'],
    ['secrets', { secrets: [7] }, 'secrets: expected an array of strings, got something else'],
    ['returnReasoning', { returnReasoning: 1 }, 'returnReasoning: expected true or false'],
  ];
  test.each(wrong)('%s is checked', (_, options, message) => {
    expect(() => aiSdkLlm(model, options as object)).toThrow(message);
  });

  test('a model of another version is refused by its version', () => {
    expect(() => aiSdkLlm({ ...model, specificationVersion: 'v2' } as never)).toThrow(
      'model: expected a LanguageModelV3 of the AI SDK, or a function that gives one, got a model of the specification "v2"',
    );
  });

  test('a function is asked for the model that the request names', async () => {
    const names: string[] = [];
    const llm = aiSdkLlm((name) => {
      names.push(name);
      return scriptedModel([finish()]).model;
    });
    await collect(await llm.generate(requestOf({ model: 'one' })));
    await collect(await llm.generate(requestOf({ model: 'two' })));
    expect(names).toEqual(['one', 'two']);
  });
});
