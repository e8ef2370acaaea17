import { createAgentLoop, type Diagnostic } from '@celestea/agent-loop';
import {
  assertLogValid,
  collectingSink,
  done,
  FakeSessionLog,
  FakeToolRegistry,
  ScriptedLlm,
  testContext,
  type ScriptAction,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  type LoopEvent,
  type SessionEvent,
  type StreamEvent,
  type ToolCall,
} from '@celestea/core';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';

import { traceLoop, type TracedLoop } from '../src/index.ts';
import { recorder } from './support/recorder.ts';

afterEach(() => {
  context.disable();
});

const TOOLS = ['value', 'text', 'throws', 'slow', 'hangs', 'unknown'] as const;
const ENDS = ['done', 'throws', 'failed', 'interrupted', 'nothing', 'hangs', 'malformed'] as const;

interface Plan {
  readonly replies: readonly {
    readonly texts: readonly string[];
    readonly calls: readonly (typeof TOOLS)[number][];
    readonly end: (typeof ENDS)[number];
    readonly usage: number | null;
  }[];
  /** The event at which the turn is cancelled. */
  readonly cancelAt: number | null;
  /** The row that the log does not take. */
  readonly breakAt: number | null;
  readonly width: number;
  readonly steps: number;
  readonly pulled: boolean;
}

const plans: fc.Arbitrary<Plan> = fc.record({
  replies: fc.array(
    fc.record({
      texts: fc.array(fc.constantFrom('a', '漢', '\ud83d', ''), { maxLength: 3 }),
      calls: fc.array(fc.constantFrom(...TOOLS), { maxLength: 4 }),
      end: fc.oneof({ arbitrary: fc.constant('done' as const), weight: 9 }, fc.constantFrom(...ENDS)),
      usage: fc.option(fc.integer({ min: 0, max: 99 })),
    }),
    { maxLength: 4 },
  ),
  cancelAt: fc.option(fc.nat(20)),
  breakAt: fc.option(fc.nat(30), { freq: 4 }),
  width: fc.integer({ min: 1, max: 4 }),
  steps: fc.integer({ min: 0, max: 4 }),
  pulled: fc.boolean(),
});

interface Came {
  readonly settled: unknown;
  readonly rows: readonly SessionEvent[];
  readonly events: readonly LoopEvent[];
  readonly diagnostics: readonly Diagnostic['kind'][];
  readonly requests: unknown;
}

/** Plays a plan; what hangs cancels the turn, so that it ends. */
async function play(plan: Plan, wrap: (loop: TracedLoop) => TracedLoop): Promise<Came> {
  const cancel = new AbortController();
  const hang = (): Promise<never> => {
    setImmediate(() => {
      cancel.abort();
    });
    return new Promise(() => undefined);
  };
  const llm = new ScriptedLlm(plan.replies.map((reply, index) => scriptOf(reply, index, hang)));
  const tools = new FakeToolRegistry({
    value: () => ({ n: 1 }),
    text: () => 'text',
    throws: () => {
      throw new Error('no');
    },
    slow: () => new Promise((resolve) => setImmediate(resolve, 'slow')),
    hangs: hang,
  });
  const log = new FakeSessionLog({
    onAppend: (_row, index) => {
      if (index === plan.breakAt) throw new Error('the log is full');
    },
  });
  const { sink, events } = collectingSink();
  const diagnostics: Diagnostic['kind'][] = [];
  const options = {
    signal: cancel.signal,
    sink: (event: LoopEvent): void => {
      sink(event);
      if (events.length - 1 === plan.cancelAt) cancel.abort();
    },
    onDiagnostic: ({ kind }: Diagnostic): void => {
      diagnostics.push(kind);
    },
  };
  const config = defaultAgentConfig({ max_steps: plan.steps, max_parallel_tool_calls: plan.width });
  const loop = wrap(createAgentLoop(config));
  const ctx = testContext({ llm, log, tools });
  const turn = plan.pulled
    ? loop.streamTurn(ctx, 'Go.', options).outcome
    : loop.runTurnOutcome(ctx, 'Go.', options);
  const settled = await turn.then(
    (outcome) => ({ outcome }),
    (error: unknown) => ({ error: String(error) }),
  );
  return { settled, rows: log.rows, events, diagnostics, requests: llm.requests };
}

type Reply = Plan['replies'][number];

function scriptOf(reply: Reply, step: number, hang: ScriptAction): (StreamEvent | ScriptAction)[] {
  const words = reply.texts.map((text): StreamEvent => ({ kind: 'text', text }));
  const n = reply.usage;
  const usage: StreamEvent[] = n === null ? [] : [{ kind: 'usage', usage: usageOf(n) }];
  const calls = reply.calls.map((name, index): ToolCall => {
    return { id: `${String(step)}-${String(index)}`, name, args: { of: name } };
  });
  return [...words, ...usage, ...endOf(reply.end, reply.texts.join(''), calls, hang)];
}

const usageOf = (n: number): Extract<StreamEvent, { kind: 'usage' }>['usage'] => ({
  prompt_tokens: n,
  completion_tokens: n,
  total_tokens: 2 * n,
  cache_read: 0,
  reasoning_tokens: 0,
});

function endOf(
  end: Reply['end'],
  text: string,
  calls: ToolCall[],
  hang: ScriptAction,
): (StreamEvent | ScriptAction)[] {
  switch (end) {
    case 'done':
      return [done(text, ...calls)];
    case 'throws':
      return [() => Promise.reject(new Error('torn'))];
    case 'failed':
      return [{ kind: 'failed', kindOf: 'stream', message: 'no' }];
    case 'interrupted':
      return [{ kind: 'interrupted' }];
    case 'nothing':
      return [];
    case 'hangs':
      return [hang];
    case 'malformed':
      return [{ kind: 'done' } as StreamEvent];
    default:
      return end satisfies never;
  }
}

const laws = (check: (plan: Plan) => Promise<void>): Promise<void> =>
  fc.assert(fc.asyncProperty(plans, check), { numRuns: 150 });

test('events, rows, requests and outcome are the same with spans, and every span ends once', () =>
  laws(async (plan) => {
    const { tracer, ended, expectAllEnded } = recorder();
    const options = { tracer, captureContent: plan.width > 2 };
    const came = await play(plan, (loop) => traceLoop(loop, options));
    expect(came).toEqual(await play(plan, (loop) => loop));
    expectAllEnded();
    const turn = ended().at(-1);
    expect(turn?.name).toBe('invoke_agent');
    const usage = ended().map(({ name, attributes }) =>
      name.startsWith('chat') ? Number(attributes['gen_ai.usage.input_tokens'] ?? 0) : 0,
    );
    const total = usage.reduce((sum, tokens) => sum + tokens, 0);
    expect(turn?.attributes['gen_ai.usage.input_tokens'] ?? 0).toBe(total);
    if (plan.breakAt === null) assertLogValid(came.rows);
  }));

test('events, rows, requests and outcome are the same without an SDK', () =>
  laws(async (plan) => {
    expect(await play(plan, traceLoop)).toEqual(await play(plan, (loop) => loop));
  }));

test('events, rows, requests and outcome are the same under a context manager', () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return laws(async (plan) => {
    const { tracer, expectAllEnded } = recorder();
    const came = await play(plan, (loop) => traceLoop(loop, { tracer }));
    expect(came).toEqual(await play(plan, (loop) => loop));
    expectAllEnded();
  });
});
