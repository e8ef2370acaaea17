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
import { context, ROOT_CONTEXT, type ContextManager, type Span, type Tracer } from '@opentelemetry/api';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, expect, test } from 'vitest';

import { traceLoop, type TracedLoop } from '../src/index.ts';
import { recorder } from './support/recorder.ts';

afterEach(() => {
  context.disable();
});

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

/** A span one of whose methods throws, unless it fails in another way. */
const brokenSpan = (broken: keyof Span, how: () => unknown = fail): Span => {
  const span = recorder().tracer.startSpan('broken');
  return new Proxy(span, {
    get: (target, key) => {
      if (key === broken) return how;
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
  'startSpan rejects': () => starting(reject),
  'setAttributes rejects': () => starting(() => brokenSpan('setAttributes', reject)),
  'setStatus rejects': () => starting(() => brokenSpan('setStatus', reject)),
  'isRecording rejects': () => starting(() => brokenSpan('isRecording', reject)),
  'spanContext rejects': () => starting(() => brokenSpan('spanContext', reject)),
  'end rejects': () => starting(() => brokenSpan('end', reject)),
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

const managers: Readonly<Record<string, Partial<ContextManager>>> = {
  'active throws': { active: fail },
  'with throws': { with: fail },
  'with rejects': {
    with: (_context, run, thisArg, ...args) => {
      run.call(thisArg as never, ...args);
      return reject() as never;
    },
  },
  'with runs nothing': { with: () => undefined as never },
  'with runs, then throws': {
    with: (_context, run, thisArg, ...args) => {
      run.call(thisArg as never, ...args);
      return fail();
    },
  },
};

test('a turn is as it is where its conversation is told by a promise that rejects', async () => {
  const conversationId = reject as unknown as () => string;
  const { tracer } = recorder();
  expect(await come(traceLoop(plain, { tracer, conversationId }))).toEqual(await come(plain));
});

test.each(Object.entries(managers))(
  'a turn is as it is under a context manager whose %s',
  async (_, broken) => {
    const manager: ContextManager = {
      active: () => ROOT_CONTEXT,
      with: (_context, run, thisArg, ...args) => run.call(thisArg as never, ...args),
      bind: (_context, target) => target,
      enable: () => manager,
      disable: () => manager,
      ...broken,
    };
    context.setGlobalContextManager(manager);
    const { tracer, tree, expectAllEnded } = recorder();
    expect(await come(traceLoop(plain, { tracer }))).toEqual(await come(plain));
    expectAllEnded();
    expect(tree()).toHaveLength(7);
  },
);
