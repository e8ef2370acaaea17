import { createAgentLoop } from '@celestea/agent-loop';
import {
  callTools,
  collectingSink,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  type LoopEvent,
  type SessionEvent,
  type TurnOutcome,
} from '@celestea/core';
import type { Span, Tracer } from '@opentelemetry/api';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';

import { traceLoop, type TracedLoop } from '../src/index.ts';
import { recorder } from './support/recorder.ts';

interface Came {
  readonly outcome: TurnOutcome;
  readonly rows: SessionEvent[];
  readonly events: LoopEvent[];
}

const plain = createAgentLoop(defaultAgentConfig());

async function come(loop: TracedLoop): Promise<Came> {
  const log = new FakeSessionLog();
  const { sink, events } = collectingSink();
  const call = { id: 'a', name: 'time', args: { zone: 'UTC' } };
  const failing = { id: 'b', name: 'none', args: {} };
  const llm = new ScriptedLlm([callTools(call, failing), say('It is noon.')]);
  const tools = new FakeToolRegistry({ time: () => '12:00' });
  const ctx = testContext({ llm, log, tools });
  return { outcome: await loop.runTurnOutcome(ctx, 'Go.', { sink }), rows: log.rows, events };
}

const fail = (): never => {
  throw new Error('the tracer is broken');
};

const reject = (): Promise<never> => Promise.reject(new Error('the tracer is broken'));

/** A span one of whose methods throws. */
const brokenSpan = (broken: keyof Span): Span => {
  const span = recorder().tracer.startSpan('broken');
  return new Proxy(span, {
    get: (target, key) => {
      if (key === broken) return fail;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
};

const starting = (startSpan: () => unknown): Tracer =>
  ({ startSpan, startActiveSpan: fail }) as unknown as Tracer;

const tracers: Readonly<Record<string, () => Tracer>> = {
  'startSpan throws': () => starting(fail),
  'startSpan gives nothing': () => starting(() => undefined),
  'startSpan gives a number': () => starting(() => 7),
  'setAttributes throws': () => starting(() => brokenSpan('setAttributes')),
  'setStatus throws': () => starting(() => brokenSpan('setStatus')),
  'isRecording throws': () => starting(() => brokenSpan('isRecording')),
  'spanContext throws': () => starting(() => brokenSpan('spanContext')),
  'end throws': () => starting(() => brokenSpan('end')),
  'an exporter throws': () => {
    const exporter = { export: fail, shutdown: () => Promise.resolve() };
    const spanProcessors = [new SimpleSpanProcessor(exporter)];
    return new BasicTracerProvider({ spanProcessors }).getTracer('test');
  },
  'a processor throws': () => {
    const settled = (): Promise<void> => Promise.resolve();
    const processor = { onStart: fail, onEnd: fail, forceFlush: settled, shutdown: settled };
    return new BasicTracerProvider({ spanProcessors: [processor] }).getTracer('test');
  },
  'a sampler throws': () =>
    new BasicTracerProvider({ sampler: { shouldSample: fail } }).getTracer('test'),
};

test.each(Object.entries(tracers))('a turn is as it is where %s', async (_, make) => {
  expect(await come(traceLoop(plain, { tracer: make(), captureContent: true }))).toEqual(
    await come(plain),
  );
});

test('a turn is as it is where its conversation is told by a promise that rejects', async () => {
  const conversationId = reject as unknown as () => string;
  const { tracer } = recorder();
  expect(await come(traceLoop(plain, { tracer, conversationId }))).toEqual(await come(plain));
});
