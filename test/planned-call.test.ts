import { describe, expect, test } from 'vitest';

import { DefaultAgentLoop } from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  collectingSink,
  done,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  thinkSigned,
  type Script,
} from '@celestea/agent-loop/testing';
import { defaultAgentConfig, messageToolCalls, type ToolCall } from '@celestea/core';

/** An array in an array, so many of them. */
const nested = (levels: number, inner: unknown = 'x'): unknown => {
  let value = inner;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
};

const call = (id: string, args: unknown): ToolCall => ({ id, name: 'echo', args });
const NOTICE = '[nested deeper than 200 levels]';
const ERROR =
  'not run: the arguments are nested deeper than 200 levels and were cut. ' +
  'Send the call again, with flatter arguments.';

async function play(scripts: Script[]) {
  const { sink, events } = collectingSink();
  const log = new FakeSessionLog();
  const llm = new ScriptedLlm(scripts);
  const tools = new FakeToolRegistry({ echo: () => 'ran' });
  const loop = new DefaultAgentLoop(defaultAgentConfig(), { sink });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  assertLogValid(log.rows);
  return { outcome, events, rows: log.rows, llm, tools };
}

describe('arguments that are nested too deep', () => {
  test('X32 at 200 levels they are run as they are', async () => {
    const args = { path: nested(199) };
    const { tools, rows } = await play([callTools(call('a', args)), say('ok')]);
    expect(tools.settled).toEqual(['a']);
    expect(rows).toContainEqual({ type: 'tool_call', id: 'a', name: 'echo', args });
  });

  test.each([[201], [3_000], [100_000]])(
    'X32 at %d levels they are cut for rows, events and requests, and the call is not run',
    async (levels) => {
      const deep = call('a', { path: nested(levels - 1) });
      const { outcome, tools, rows, events, llm } = await play([
        callTools(deep, call('b', { of: 'b' })),
        say('ok'),
      ]);
      expect(outcome).toBe('completed');
      expect(tools.settled).toEqual(['b']);
      const args = { path: nested(199, NOTICE) };
      const cut = { id: 'a', name: 'echo', args };
      const whole = { id: 'b', name: 'echo', args: { of: 'b' } };
      expect(rows).toContainEqual({ type: 'tool_call', ...cut });
      expect(rows).toContainEqual({ type: 'tool_result', id: 'a', value: null, error: ERROR });
      expect(events).toContainEqual({ kind: 'tool_call', ...cut });
      expect(events).toContainEqual({ kind: 'done', text: '', tool_calls: [cut, whole] });
      const sent = llm.requests[1]?.messages.flatMap(messageToolCalls);
      expect(sent).toEqual([cut, whole]);
    },
  );

  test('X8 X32 a reply that reached its length limit says that first', async () => {
    const cut = { ...done('', call('a', nested(201))), finish: 'length' as const };
    const { rows } = await play([[cut], say('ok')]);
    const error = expect.stringContaining('length limit') as string;
    expect(rows).toContainEqual({ type: 'tool_result', id: 'a', value: null, error });
  });

  test('X10 X32 what a provider signed too deep does not go back', async () => {
    const meta = nested(201);
    const { outcome, llm } = await play([
      [thinkSigned('hm', meta), done('', { ...call('a', {}), meta })],
      say('ok'),
    ]);
    expect(outcome).toBe('completed');
    const content = [{ type: 'tool_call', content: call('a', {}) }];
    expect(llm.requests[1]?.messages[1]).toEqual({ role: 'assistant', content, tool_call_id: null });
  });
});
