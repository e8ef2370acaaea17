import { describe, expect, test } from 'vitest';

import { DefaultAgentLoop } from '@celestea/agent-loop';
import {
  callTools,
  collectingSink,
  done,
  failingLlm,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  think,
  type Script,
} from '@celestea/agent-loop/testing';
import { defaultAgentConfig, type StreamEvent, type TurnOutcome } from '@celestea/core';

const call = (id: string) => ({ id, name: 'echo', args: { of: id } });
const text = (words: string): StreamEvent => ({ kind: 'text', text: words });

/** One turn; `stop` cancels it. */
async function play(scripts: (stop: () => void) => Script[]) {
  const controller = new AbortController();
  const stop = () => {
    controller.abort();
  };
  const log = new FakeSessionLog();
  const tools = new FakeToolRegistry({ echo: (args) => args });
  const llm = new ScriptedLlm(scripts(stop));
  const { sink, events } = collectingSink();
  const bindings = { sink, signal: controller.signal };
  const loop = new DefaultAgentLoop(defaultAgentConfig(), bindings);
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  return { outcome, rows: log.rows.slice(2), events, tools, llm };
}

const turnEnd = (outcome: TurnOutcome) => ({ type: 'turn_end', id: 'turn-0', outcome });

/** Every way a stream fails, as the last item of a script. */
const failures: { name: string; end: StreamEvent | (() => never); outcome: TurnOutcome }[] = [
  {
    name: 'a failed event',
    end: { kind: 'failed', kindOf: 'stream', message: 'gave up' },
    outcome: { error: { kind: 'stream', message: 'gave up' } },
  },
  {
    name: 'a failed event of kind generate',
    end: { kind: 'failed', kindOf: 'generate', message: 'no quota' },
    outcome: { error: { kind: 'generate', message: 'no quota' } },
  },
  { name: 'an interrupted event', end: { kind: 'interrupted' }, outcome: 'interrupted' },
  {
    name: 'a throw',
    end: () => {
      throw new Error('torn');
    },
    outcome: { error: { kind: 'stream', message: 'torn' } },
  },
];
const silent = { name: 'nothing at all', end: null, outcome: 'interrupted' } as const;
const tail = (end: Script[number] | null): Script => (end === null ? [] : [end]);

describe('without a done', () => {
  test.each([...failures, silent])(
    'L4.1 L2.8 a partial answer, then $name: the outcome, and no reply',
    async ({ end, outcome }) => {
      const { outcome: got, rows, events } = await play(() => [
        [think('hm'), text('The answer is'), ...tail(end)],
      ]);
      expect(got).toEqual(outcome);
      expect(rows).toEqual([{ type: 'thinking_delta', text: 'hm' }, turnEnd(outcome)]);
      expect(events).toEqual([
        { kind: 'thinking', delta: 'hm' },
        { kind: 'text', delta: 'The answer is' },
        { kind: 'turn_end', outcome },
      ]);
    },
  );

  test('L2.8 a partial answer that is cancelled is no reply either', async () => {
    const { rows, events } = await play((stop) => [[text('The answer'), stop, text(' is')]]);
    expect(rows).toEqual([turnEnd('cancelled')]);
    expect(events).toEqual([
      { kind: 'text', delta: 'The answer' },
      { kind: 'turn_end', outcome: 'cancelled' },
    ]);
  });

  test('L2.8 the next turn shows the model nothing of a partial answer', async () => {
    const log = new FakeSessionLog();
    const llm = new ScriptedLlm([[text('half an'), ...tail({ kind: 'interrupted' })], say('hi')]);
    const loop = new DefaultAgentLoop(defaultAgentConfig());
    const ctx = testContext({ llm, log });
    await loop.runTurn(ctx, 'one');
    await loop.runTurn(ctx, 'two');
    expect(llm.requests[1]?.messages.map((message) => message.role)).toEqual(['user', 'user']);
  });
});

describe('a signal that fires together with a failure', () => {
  test.each([...failures, silent])('L4.1 cancelled wins over $name', async ({ end }) => {
    const { outcome, rows, events } = await play((stop) => [[text('x'), stop, ...tail(end)]]);
    expect(outcome).toBe('cancelled');
    expect(rows).toEqual([turnEnd('cancelled')]);
    expect(events.at(-1)).toEqual({ kind: 'turn_end', outcome: 'cancelled' });
  });

  test.each([...failures, silent])('L4.1 and over $name after a done', async ({ end }) => {
    const { outcome, rows, events } = await play((stop) => [[done('hi'), stop, ...tail(end)]]);
    expect(outcome).toBe('cancelled');
    expect(rows).toEqual([turnEnd('cancelled')]);
    expect(events).toEqual([{ kind: 'turn_end', outcome: 'cancelled' }]);
  });

  test('L4.1 and over a generate that fails', async () => {
    const controller = new AbortController();
    const llm = {
      generate: () => {
        controller.abort();
        return Promise.reject(new Error('aborted by the provider'));
      },
    };
    const loop = new DefaultAgentLoop(defaultAgentConfig(), { signal: controller.signal });
    expect(await loop.runTurnOutcome(testContext({ llm }), 'go')).toBe('cancelled');
  });

  test('L4.1 and over a failure that cancels the turn when its message is read', async () => {
    const controller = new AbortController();
    class Late extends Error {
      override get message(): string {
        controller.abort();
        return 'no key';
      }
    }
    const llm = failingLlm(new Late());
    const loop = new DefaultAgentLoop(defaultAgentConfig(), { signal: controller.signal });
    expect(await loop.runTurnOutcome(testContext({ llm }), 'go')).toBe('cancelled');
  });

  test('L4.1 a thinking row that cancels at the end of the stream comes in time', async () => {
    const controller = new AbortController();
    const log = new FakeSessionLog({
      onAppend: (row) => {
        if (row.type === 'thinking_delta') controller.abort();
      },
    });
    const llm = new ScriptedLlm([[done('hi'), think('late')]]);
    const { sink, events } = collectingSink();
    const bindings = { sink, signal: controller.signal };
    const loop = new DefaultAgentLoop(defaultAgentConfig(), bindings);
    expect(await loop.runTurnOutcome(testContext({ llm, log }), 'go')).toBe('cancelled');
    expect(log.rows.map((row) => row.type)).not.toContain('assistant_message');
    expect(events.map((event) => event.kind)).toEqual(['thinking', 'turn_end']);
  });

  test('L4.1 the done event is past the last checkpoint: a reply stays completed', async () => {
    for (const at of ['assistant_message', 'done'] as const) {
      const controller = new AbortController();
      const stop = (what: string) => {
        if (what === at) controller.abort();
      };
      const log = new FakeSessionLog({
        onAppend: (row) => {
          stop(row.type);
        },
      });
      const { sink, events } = collectingSink();
      const loop = new DefaultAgentLoop(defaultAgentConfig(), {
        signal: controller.signal,
        sink: (event) => {
          sink(event);
          stop(event.kind);
        },
      });
      const llm = new ScriptedLlm([say('hi')]);
      expect(await loop.runTurnOutcome(testContext({ llm, log }), 'go')).toBe('completed');
      expect(log.rows.at(-2)).toEqual({ type: 'assistant_message', text: 'hi' });
      expect(events.map((event) => event.kind)).toEqual(['text', 'done', 'turn_end']);
    }
  });
});

describe('a done without calls', () => {
  test('L4.2 one assistant_message row, then completed', async () => {
    const { outcome, rows, events } = await play(() => [say('hi')]);
    expect(outcome).toBe('completed');
    expect(rows).toEqual([{ type: 'assistant_message', text: 'hi' }, turnEnd('completed')]);
    expect(events).toEqual([
      { kind: 'text', delta: 'hi' },
      { kind: 'done', text: 'hi', tool_calls: [] },
      { kind: 'turn_end', outcome: 'completed' },
    ]);
  });

  test('L4.2 the text of the done counts, not the deltas; an empty one is a row too', async () => {
    expect((await play(() => [[text('helo'), done('hello')]])).rows).toEqual([
      { type: 'assistant_message', text: 'hello' },
      turnEnd('completed'),
    ]);
    expect((await play(() => [[done('')]])).rows).toEqual([
      { type: 'assistant_message', text: '' },
      turnEnd('completed'),
    ]);
  });

  test.each(failures)(
    'L4.2 then $name: the row stays, the outcome is the terminal state',
    async ({ end, outcome }) => {
      const { outcome: got, rows, events } = await play(() => [[done('hi'), ...tail(end)]]);
      expect(got).toEqual(outcome);
      expect(rows).toEqual([{ type: 'assistant_message', text: 'hi' }, turnEnd(outcome)]);
      expect(events).toEqual([
        { kind: 'done', text: 'hi', tool_calls: [] },
        { kind: 'turn_end', outcome },
      ]);
    },
  );
});

describe('a done with calls', () => {
  test.each(failures)(
    'L4.3 then $name: the turn ends with it and no call is run',
    async ({ end, outcome }) => {
      const calls = [call('a'), call('b')];
      const { outcome: got, rows, events, tools, llm } = await play(() => [
        [done('', ...calls), think('late'), ...tail(end)],
        say('never'),
      ]);
      expect(got).toEqual(outcome);
      expect(rows).toEqual([{ type: 'thinking_delta', text: 'late' }, turnEnd(outcome)]);
      expect(events).toEqual([
        { kind: 'thinking', delta: 'late' },
        { kind: 'done', text: '', tool_calls: calls },
        { kind: 'turn_end', outcome },
      ]);
      expect(tools.dispatched).toEqual([]);
      expect(llm.requests).toHaveLength(1);
    },
  );

  test('L4.3 L4.2 without a failure the calls are run and the turn goes on', async () => {
    const { outcome, tools, llm } = await play(() => [callTools(call('a')), say('hi')]);
    expect(outcome).toBe('completed');
    expect(tools.dispatched).toHaveLength(1);
    expect(llm.requests).toHaveLength(2);
  });
});
