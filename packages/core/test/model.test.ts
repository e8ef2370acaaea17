import { expect, expectTypeOf, test } from 'vitest';

import {
  assistantText,
  FINISH_REASONS,
  isTerminalStreamEvent,
  LlmError,
  STREAM_EVENT_KINDS,
  zeroUsage,
  type FinishReason,
  type Llm,
  type LlmErrorKind,
  type LlmStream,
  type Message,
  type ModelRequest,
  type StreamEvent,
  type TimeoutStage,
  type ToolSpec,
  type Usage,
} from '@celestea/core';

test('C2.1 a request has these six fields', () => {
  expectTypeOf<ModelRequest>().toEqualTypeOf<{
    model: string;
    system: string | null;
    messages: Message[];
    tools: ToolSpec[];
    max_tokens: number | null;
    temperature: number | null;
  }>();
});

test('C2.2 X8 X10 the kinds of stream events, and their shapes', () => {
  expect(STREAM_EVENT_KINDS).toEqual([
    'text',
    'thinking',
    'usage',
    'done',
    'failed',
    'interrupted',
  ]);
  expectTypeOf<StreamEvent>().toEqualTypeOf<
    | { kind: 'text'; text: string }
    | { kind: 'thinking'; text: string; meta?: unknown }
    | { kind: 'usage'; usage: Usage }
    | { kind: 'done'; message: Message; finish?: FinishReason }
    | { kind: 'failed'; kindOf: 'generate' | 'stream'; message: string }
    | { kind: 'interrupted' }
  >();
});

test('X8 the reasons why a model stops are a closed list, each of them once', () => {
  expect(FINISH_REASONS).toEqual([
    'stop',
    'tool_calls',
    'length',
    'content_filter',
    'refusal',
    'other',
  ]);
  expectTypeOf(FINISH_REASONS).toEqualTypeOf<readonly FinishReason[]>();
  expectTypeOf<FinishReason>().toEqualTypeOf<
    'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal' | 'other'
  >();
});

test('X8 no reason changes that done ends the reply, nor meta that thinking does not', () => {
  for (const finish of FINISH_REASONS) {
    expect(isTerminalStreamEvent({ kind: 'done', message: assistantText('a'), finish })).toBe(true);
  }
  expect(isTerminalStreamEvent({ kind: 'thinking', text: '', meta: { signature: 's' } })).toBe(
    false,
  );
});

test.each<[event: StreamEvent, terminal: boolean]>([
  [{ kind: 'text', text: 'a' }, false],
  [{ kind: 'thinking', text: 'a' }, false],
  [{ kind: 'usage', usage: zeroUsage() }, false],
  [{ kind: 'done', message: assistantText('a') }, true],
  [{ kind: 'failed', kindOf: 'stream', message: 'm' }, true],
  [{ kind: 'failed', kindOf: 'generate', message: 'm' }, true],
  [{ kind: 'interrupted' }, true],
])('C2.2 $kind ends the reply or not: %j', (event, terminal) => {
  expect(isTerminalStreamEvent(event)).toBe(terminal);
});

const request: ModelRequest = {
  model: 'm',
  system: null,
  messages: [],
  tools: [],
  max_tokens: null,
  temperature: null,
};

test('C2.3 a model gives an async iterable, and its options may be ignored', async () => {
  expectTypeOf<LlmStream>().toEqualTypeOf<AsyncIterable<StreamEvent>>();
  expectTypeOf<Llm>().toEqualTypeOf<{
    generate(request: ModelRequest, options?: { signal?: AbortSignal }): Promise<LlmStream>;
  }>();
  async function* words(): LlmStream {
    yield await Promise.resolve({ kind: 'text' as const, text: 'hi' });
  }
  const deaf: Llm = { generate: () => Promise.resolve(words()) };
  const asked: unknown[] = [];
  const polite: Llm = {
    generate: (req, options) => {
      asked.push(req.model, options?.signal?.aborted);
      return Promise.resolve(words());
    },
  };
  for (const llm of [deaf, polite]) {
    const events: StreamEvent[] = [];
    for await (const event of await llm.generate(request)) events.push(event);
    const { signal } = new AbortController();
    for await (const event of await llm.generate(request, { signal })) events.push(event);
    expect(events).toEqual([
      { kind: 'text', text: 'hi' },
      { kind: 'text', text: 'hi' },
    ]);
  }
  expect(asked).toEqual(['m', undefined, 'm', false]);
});

test('C2.4 LlmError extends Error and has defaults', () => {
  const error = new LlmError('no answer');
  expect(error).toBeInstanceOf(Error);
  expect(error).toBeInstanceOf(LlmError);
  expect(error.name).toBe('LlmError');
  expect(String(error)).toBe('LlmError: no answer');
  expect(error).toMatchObject({
    message: 'no answer',
    kind: 'generate',
    isTimeout: false,
    timeoutStage: null,
    httpStatus: null,
    retryable: false,
    retryAfterMs: null,
  });
  expect(error.cause).toBe(undefined);
});

test('C2.4 LlmError carries what it is given', () => {
  const error = new LlmError('slow', 'timeout', {
    isTimeout: true,
    timeoutStage: 'idle',
    httpStatus: 504,
    retryable: true,
    retryAfterMs: 1500,
  });
  expect(error).toMatchObject({
    kind: 'timeout',
    isTimeout: true,
    timeoutStage: 'idle',
    httpStatus: 504,
    retryable: true,
    retryAfterMs: 1500,
  });
  expect(new LlmError('m', 'stream')).toMatchObject({ kind: 'stream', isTimeout: false });
  expect(new LlmError('m', undefined, { retryable: true })).toMatchObject({
    kind: 'generate',
    retryable: true,
    httpStatus: null,
  });
  expect(new LlmError('m', 'generate', { isTimeout: true }).isTimeout).toBe(true);
  expect(new LlmError('m', 'timeout').isTimeout).toBe(true);
  expect(new LlmError('m', 'timeout', { isTimeout: false }).isTimeout).toBe(false);
  expect(new LlmError('m', 'stream', { timeoutStage: null, httpStatus: null })).toMatchObject({
    timeoutStage: null,
    httpStatus: null,
  });
});

test('C2.4 kinds and stages are closed', () => {
  expectTypeOf<LlmErrorKind>().toEqualTypeOf<'generate' | 'stream' | 'timeout'>();
  expectTypeOf<TimeoutStage>().toEqualTypeOf<'connect' | 'response' | 'idle'>();
  expectTypeOf<LlmError['kind']>().toEqualTypeOf<LlmErrorKind>();
  expectTypeOf<LlmError['timeoutStage']>().toEqualTypeOf<TimeoutStage | null>();
  expectTypeOf<LlmError['httpStatus']>().toEqualTypeOf<number | null>();
});
