import { describe, expect, test } from 'vitest';

import { createAgentLoop, loopEventToSse, type Diagnostic } from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  collectingSink,
  FakeSessionLog,
  say,
  ScriptedLlm,
  testContext,
} from '@celestea/agent-loop/testing';
import {
  ABANDONED_TOOL_CALL_TEXT,
  defaultAgentConfig,
  messageTexts,
  type SessionEvent,
  type ToolOutput,
  type ToolRegistry,
} from '@celestea/core';

import { assertRequestValid } from './support/request-checker.ts';
import { call, quiet, rawRegistry } from './support/turn.ts';

const ok = (call_id: string, value: unknown = call_id): ToolOutput => ({
  call_id,
  value,
  render: null,
  error: null,
  decision: null,
});

/** How a tool takes a cancel that comes while it runs. */
type Manner = (callId: string, signal: AbortSignal | undefined) => Promise<ToolOutput>;

const onAbort = (signal: AbortSignal | undefined, run: () => void): void => {
  signal?.addEventListener('abort', run, { once: true });
};

const manners: [name: string, manner: Manner][] = [
  ['is deaf', () => new Promise(() => undefined)],
  [
    'stops at once with an error',
    (_, signal) =>
      new Promise((_resolve, reject) => {
        onAbort(signal, () => {
          reject(new Error('stopped'));
        });
      }),
  ],
  [
    'gives its value at once',
    (id, signal) =>
      new Promise((resolve) => {
        onAbort(signal, () => {
          resolve(ok(id));
        });
      }),
  ],
  [
    'stops a little later',
    async (id, signal) => {
      await new Promise<void>((resolve) => {
        onAbort(signal, resolve);
      });
      await quiet(2);
      return ok(id);
    },
  ],
  ['is late', (id) => quiet(10).then(() => ok(id))],
  ['is late and fails', () => quiet(10).then(() => Promise.reject(new Error('late')))],
];

/** Four calls in batches of two; the cancel comes while `b` of a, b runs. */
async function cancelled(dispatch: ToolRegistry['dispatch'], abort?: (cancel: () => void) => void) {
  const controller = new AbortController();
  const log = new FakeSessionLog();
  const { sink, events } = collectingSink();
  const diagnostics: Diagnostic[] = [];
  const loop = createAgentLoop(defaultAgentConfig({ max_parallel_tool_calls: 2 }), {
    sink,
    signal: controller.signal,
    onDiagnostic: (diagnostic) => void diagnostics.push(diagnostic),
  });
  const cancel = (): void => {
    controller.abort();
  };
  const calls = ['a', 'b', 'c', 'd'].map((id) => call(id));
  const llm = new ScriptedLlm([callTools(...calls), say('never')]);
  const ctx = testContext({ llm, log, tools: rawRegistry(dispatch) });
  const running = loop.runTurnOutcome(ctx, 'go');
  if (abort === undefined) {
    await quiet(2);
    cancel();
  } else {
    abort(cancel);
  }
  expect(await running).toBe('cancelled');
  const rows = [...log.rows];
  const told = [...events];
  await quiet(20);
  expect(log.rows, 'a late result writes nothing').toEqual(rows);
  expect(events, 'a late result tells nothing').toEqual(told);
  assertLogValid(rows);
  const results = rows.flatMap((row) => (row.type === 'tool_result' ? [row] : []));
  return { log, results, events, diagnostics };
}

const abandoned = (id: string): SessionEvent => ({
  type: 'tool_result',
  id,
  value: null,
  error: 'cancelled before execution',
  abandoned: true,
});
const notRun = (id: string): SessionEvent => ({
  type: 'tool_result',
  id,
  value: null,
  error: 'cancelled before execution',
});
const real = (id: string): SessionEvent => ({ type: 'tool_result', id, value: id, error: null });

const NOT_KNOWN =
  'Error: this tool call had started when the turn was cancelled; its outcome is not known.';

describe.each(manners)('X17 a tool that %s when its turn is cancelled', (_, manner) => {
  test('X17 its row carries abandoned, those that never started carry nothing', async () => {
    const { results } = await cancelled(({ call_id }, options) =>
      call_id === 'a' ? Promise.resolve(ok('a')) : manner(call_id, options?.signal),
    );
    expect(results).toEqual([real('a'), abandoned('b'), notRun('c'), notRun('d')]);
  });

  test('X17 its event carries abandoned, and so does its SSE frame', async () => {
    const { events } = await cancelled(({ call_id }, options) => manner(call_id, options?.signal));
    const fields = {
      kind: 'tool_result',
      ok: false,
      value: null,
      render: null,
      error: 'cancelled before execution',
      decision: null,
    };
    const results = events.filter(({ kind }) => kind === 'tool_result');
    expect(results).toEqual([
      { ...fields, callId: 'a', abandoned: true },
      { ...fields, callId: 'b', abandoned: true },
      { ...fields, callId: 'c' },
      { ...fields, callId: 'd' },
    ]);
    const flags = results.map((event) => loopEventToSse(event).payload['abandoned']);
    expect(flags).toEqual([true, true, undefined, undefined]);
  });

  test('X17 the model reads that it had started, of the others that they had not', async () => {
    const { log } = await cancelled(({ call_id }, options) => manner(call_id, options?.signal));
    const llm = new ScriptedLlm([say('Hi.')]);
    const ctx = testContext({ llm, log });
    await createAgentLoop(defaultAgentConfig()).runTurn(ctx, 'and now?');
    const [request] = llm.requests;
    if (request === undefined) throw new Error('no request');
    assertRequestValid(request);
    const answers = request.messages.filter(({ role }) => role === 'tool').flatMap(messageTexts);
    expect(answers).toEqual([
      NOT_KNOWN,
      NOT_KNOWN,
      'Error: cancelled before execution',
      'Error: cancelled before execution',
    ]);
    expect(ABANDONED_TOOL_CALL_TEXT).toBe(NOT_KNOWN);
  });

  test('X15 X17 each call that was left is reported, those never started are not', async () => {
    const { diagnostics } = await cancelled(({ call_id }, options) =>
      manner(call_id, options?.signal),
    );
    expect(diagnostics).toEqual([
      { kind: 'tool_abandoned', message: 'echo (a) was still running' },
      { kind: 'tool_abandoned', message: 'echo (b) was still running' },
    ]);
  });
});

describe('X17 L4.5 a call that settled before the cancel', () => {
  test('X17 keeps its real result, its error too', async () => {
    const { results } = await cancelled(({ call_id }) =>
      call_id === 'a'
        ? Promise.reject(new Error('no such file'))
        : new Promise(() => undefined),
    );
    expect(results[0]).toEqual({
      type: 'tool_result',
      id: 'a',
      value: null,
      error: 'no such file',
    });
  });

  test('X17 keeps it when its sibling cancels in the same breath', async () => {
    let stop: () => void = () => undefined;
    const { results } = await cancelled(
      ({ call_id }) => {
        if (call_id === 'b') stop();
        return Promise.resolve(ok(call_id));
      },
      (cancel) => {
        stop = cancel;
      },
    );
    expect(results).toEqual([real('a'), abandoned('b'), notRun('c'), notRun('d')]);
  });

  test('X17 in an earlier batch keeps it', async () => {
    let stop: () => void = () => undefined;
    const { results } = await cancelled(
      ({ call_id }) => {
        if (call_id === 'c') stop();
        return call_id === 'c' ? new Promise(() => undefined) : Promise.resolve(ok(call_id));
      },
      (cancel) => {
        stop = cancel;
      },
    );
    expect(results).toEqual([real('a'), real('b'), abandoned('c'), notRun('d')]);
  });

  test('X17 at once, in the throw of a tool that cancels its own turn, keeps it', async () => {
    let stop: () => void = () => undefined;
    const { results } = await cancelled(
      () => {
        stop();
        throw new Error('thrown at once');
      },
      (cancel) => {
        stop = cancel;
      },
    );
    const thrown = { ...notRun('a'), error: 'thrown at once' };
    expect(results).toEqual([thrown, notRun('b'), notRun('c'), notRun('d')]);
  });
});

test('X17 a turn that nobody cancels has no abandoned row or event', async () => {
  const log = new FakeSessionLog();
  const { sink, events } = collectingSink();
  const tools = rawRegistry(({ call_id }) => Promise.resolve({ ...ok(call_id), abandoned: true }));
  const ctx = testContext({ llm: new ScriptedLlm([callTools(call('a')), say('Hi.')]), log, tools });
  await createAgentLoop(defaultAgentConfig(), { sink }).runTurn(ctx, 'go');
  expect(log.rows[3]).toEqual(real('a'));
  expect(events[2]).not.toHaveProperty('abandoned');
});
