import { describe, expect, test } from 'vitest';

import { createUsageTracker, DefaultAgentLoop, type UsageTracker } from '@celestea/agent-loop';
import {
  assertLogValid,
  collectingSink,
  done,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  think,
  type Script,
} from '@celestea/agent-loop/testing';
import { defaultAgentConfig, zeroUsage, type StreamEvent, type Usage } from '@celestea/core';

const text = (words: string): StreamEvent => ({ kind: 'text', text: words });
const failed: StreamEvent = { kind: 'failed', kindOf: 'stream', message: 'gave up' };
const tokens = (count: number): Usage => ({ ...zeroUsage(), total_tokens: count });
const usage = (count: number): StreamEvent => ({ kind: 'usage', usage: tokens(count) });
const call = (id: string) => ({ id, name: 'echo', args: { of: id } });

/** One turn over the scripts; `trail` has rows and events in the order they came. */
async function play(scripts: Script[], tracker?: UsageTracker) {
  const trail: string[] = [];
  const { sink, events } = collectingSink();
  const log = new FakeSessionLog({ onAppend: (row) => trail.push(`row ${row.type}`) });
  const tools = new FakeToolRegistry({ echo: (args) => args });
  const llm = new ScriptedLlm(scripts);
  const loop = new DefaultAgentLoop(defaultAgentConfig({ max_steps: 3 }), {
    sink: (event) => {
      trail.push(`event ${event.kind}`);
      sink(event);
    },
    ...(tracker === undefined ? {} : { usage: tracker }),
  });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  assertLogValid(log.rows);
  return { outcome, rows: log.rows.slice(2), events, trail: trail.slice(2), llm, tools };
}

const turnEnd = (outcome: unknown) => ({ type: 'turn_end', id: 'turn-0', outcome });

describe('what each event of a stream does', () => {
  test('L3.1 text and thinking reach the sink as they are, empty deltas too', async () => {
    const deltas = [think('a'), think(''), text('b'), text(''), text(' c\n'), done('b c')];
    const { events, rows } = await play([deltas]);
    expect(events).toEqual([
      { kind: 'thinking', delta: 'a' },
      { kind: 'thinking', delta: '' },
      { kind: 'text', delta: 'b' },
      { kind: 'text', delta: '' },
      { kind: 'text', delta: ' c\n' },
      { kind: 'done', text: 'b c', tool_calls: [] },
      { kind: 'turn_end', outcome: 'completed' },
    ]);
    expect(rows).toEqual([
      { type: 'thinking_delta', text: 'a' },
      { type: 'assistant_message', text: 'b c' },
      turnEnd('completed'),
    ]);
  });

  test('L3.1 a delta reaches the sink at once, not at the next boundary', async () => {
    const { sink, events } = collectingSink();
    const seen: unknown[] = [];
    const note = () => seen.push(events.at(-1));
    const script = [think('a'), note, think('b'), note, text('c'), note, done('c')];
    const loop = new DefaultAgentLoop(defaultAgentConfig(), { sink });
    await loop.runTurn(testContext({ llm: new ScriptedLlm([script]) }), 'go');
    expect(seen).toEqual([
      { kind: 'thinking', delta: 'a' },
      { kind: 'thinking', delta: 'b' },
      { kind: 'text', delta: 'c' },
    ]);
  });

  test('L3.1 usage goes to the tracker, before, between and after the rest', async () => {
    const tracker = createUsageTracker();
    const script = [usage(1), text('hi'), usage(2), done('hi'), usage(4)];
    const { outcome, events } = await play([script], tracker);
    expect(outcome).toBe('completed');
    expect(tracker.total()).toEqual(tokens(7));
    expect(tracker.latest()).toEqual(tokens(4));
    expect(events.map((event) => event.kind)).toEqual(['text', 'done', 'turn_end']);
  });

  test('L3.1 without a tracker usage is dropped: no row, no event', async () => {
    const { rows, events } = await play([[usage(1), ...say('hi')]]);
    expect(rows).toEqual([{ type: 'assistant_message', text: 'hi' }, turnEnd('completed')]);
    expect(events.map((event) => event.kind)).toEqual(['text', 'done', 'turn_end']);
  });

  test.each([
    {
      name: 'failed',
      event: failed,
      outcome: { error: { kind: 'stream', message: 'gave up' } },
    },
    { name: 'interrupted', event: { kind: 'interrupted' } as const, outcome: 'interrupted' },
  ])('L3.1 $name is terminal: reading stops', async ({ event, outcome }) => {
    let readOn = false;
    const script = [text('a'), event, () => (readOn = true), text('b'), done('ab')];
    const { outcome: got, events, rows, llm } = await play([script]);
    expect(got).toEqual(outcome);
    expect(readOn).toBe(false);
    expect(events).toEqual([
      { kind: 'text', delta: 'a' },
      { kind: 'turn_end', outcome },
    ]);
    expect(rows).toEqual([turnEnd(outcome)]);
    expect(llm.fates).toEqual(['closed']);
  });

  test('L3.1 done is no end of reading: the stream is read to its end', async () => {
    const { llm } = await play([[...say('hi'), think('after')]]);
    expect(llm.fates).toEqual(['ended']);
  });
});

describe('when the done event comes', () => {
  test('L3.4 the done event waits for reasoning that comes after it', async () => {
    const script = [text('hi'), done('hi'), think('af'), think('ter')];
    const { events, rows, trail } = await play([script]);
    expect(events).toEqual([
      { kind: 'text', delta: 'hi' },
      { kind: 'thinking', delta: 'af' },
      { kind: 'thinking', delta: 'ter' },
      { kind: 'done', text: 'hi', tool_calls: [] },
      { kind: 'turn_end', outcome: 'completed' },
    ]);
    expect(rows).toEqual([
      { type: 'thinking_delta', text: 'after' },
      { type: 'assistant_message', text: 'hi' },
      turnEnd('completed'),
    ]);
    expect(trail).toEqual([
      'event text',
      'event thinking',
      'event thinking',
      'row thinking_delta',
      'row assistant_message',
      'event done',
      'row turn_end',
      'event turn_end',
    ]);
  });

  test('L3.4 nothing is written or told while the stream may still go on', async () => {
    const { sink, events } = collectingSink();
    const log = new FakeSessionLog();
    let at: { rows: number; events: number } | undefined;
    const look = () => {
      at = { rows: log.rows.length, events: events.length };
    };
    const loop = new DefaultAgentLoop(defaultAgentConfig(), { sink });
    const llm = new ScriptedLlm([[done('hi'), usage(1), look]]);
    await loop.runTurn(testContext({ llm, log }), 'go');
    expect(at).toEqual({ rows: 2, events: 0 });
    expect(events.map((event) => event.kind)).toEqual(['done', 'turn_end']);
  });

  test('L3.4 with calls too: late reasoning lands before them', async () => {
    const { trail } = await play([[done('', call('a')), think('late')], say('hi')]);
    expect(trail.slice(0, 7)).toEqual([
      'event thinking',
      'row thinking_delta',
      'event done',
      'row tool_call',
      'event tool_call',
      'row tool_result',
      'event tool_result',
    ]);
  });
});

const several: Script = [
  text('one'),
  done('one, ', call('a')),
  think('between'),
  done('two', call('b'), call('c')),
  done(''),
];

describe('several done events in one stream', () => {
  test('L3.7 one done event with the joined text and all calls', async () => {
    const { events, tools } = await play([several, say('hi')]);
    const told = events.filter((event) => event.kind === 'done');
    expect(told).toEqual([
      { kind: 'done', text: 'one, two', tool_calls: [call('a'), call('b'), call('c')] },
      { kind: 'done', text: 'hi', tool_calls: [] },
    ]);
    expect(tools.dispatched.map((input) => input.call_id)).toEqual(['a', 'b', 'c']);
  });

  test('L3.7 the rows carry all calls', async () => {
    const { rows } = await play([several, say('hi')]);
    expect(rows.filter((row) => row.type === 'tool_call')).toEqual([
      { type: 'tool_call', ...call('a') },
      { type: 'tool_call', ...call('b') },
      { type: 'tool_call', ...call('c') },
    ]);
  });

  test('L3.7 the row carries the joined text, of several blocks too', async () => {
    const blocks: StreamEvent = {
      kind: 'done',
      message: {
        role: 'assistant',
        content: [
          { type: 'text', content: 'b' },
          { type: 'text', content: 'c' },
        ],
        tool_call_id: null,
      },
    };
    const { rows, events } = await play([[done('a'), blocks, done('d')]]);
    expect(rows).toEqual([{ type: 'assistant_message', text: 'abcd' }, turnEnd('completed')]);
    expect(events[0]).toEqual({ kind: 'done', text: 'abcd', tool_calls: [] });
  });

  test('L3.7 the done event carries id, name and args of a call, and nothing else', async () => {
    const extra = { ...call('a'), index: 0, type: 'function' };
    const { events } = await play([[done('', extra)], say('hi')]);
    expect(events[0]).toEqual({ kind: 'done', text: '', tool_calls: [call('a')] });
  });

  test('L3.7 a sink that empties the list of calls changes nothing', async () => {
    const tools = new FakeToolRegistry({ echo: (args) => args });
    const loop = new DefaultAgentLoop(defaultAgentConfig(), {
      sink: (event) => {
        if (event.kind === 'done') event.tool_calls.length = 0;
      },
    });
    const llm = new ScriptedLlm([[done('', call('a'))], say('hi')]);
    expect(await loop.runTurnOutcome(testContext({ llm, tools }), 'go')).toBe('completed');
    expect(tools.dispatched).toEqual([{ call_id: 'a', name: 'echo', args: { of: 'a' } }]);
  });

  const torn = () => {
    throw new Error('torn');
  };
  test.each([
    { name: 'failed', end: failed, outcome: { error: { kind: 'stream', message: 'gave up' } } },
    { name: 'interrupted', end: { kind: 'interrupted' } as const, outcome: 'interrupted' },
    { name: 'a throw', end: torn, outcome: { error: { kind: 'stream', message: 'torn' } } },
  ])('L3.7 done, then $name: the done event comes first', async ({ end, outcome }) => {
    const { events, outcome: got } = await play([[done('a'), done('b', call('x')), end]]);
    expect(got).toEqual(outcome);
    expect(events).toEqual([
      { kind: 'done', text: 'ab', tool_calls: [call('x')] },
      { kind: 'turn_end', outcome },
    ]);
  });
});

describe('a reply that is too long to be handled', () => {
  const most = 64 * 2 ** 20;
  const half = 'x'.repeat(most / 2);
  const rest = 'y'.repeat(most / 2 + 1);
  const failure = (what: string) => ({
    error: {
      kind: 'stream',
      message:
        `the reply is longer than can be handled: its ${what} exceed ` +
        'the limit of 67108864 UTF-16 units (64 Mi)',
    },
  });

  test.each<[string, string, Script]>([
    ['words that stream', 'words', [text(half), text(rest), done('short')]],
    ['words at the end', 'words', [done(half + rest)]],
    ['thinking', 'thinking', [think(half), think(rest), done('short')]],
    ['the arguments of a call', 'arguments', [done('', { ...call('a'), args: half + rest })]],
    [
      'the arguments of all calls together',
      'arguments',
      [done('', { ...call('a'), args: { of: half } }, { ...call('b'), args: { of: rest } })],
    ],
  ])('X32 %s end it', async (_, what, script) => {
    const { outcome, rows, tools } = await play([script]);
    expect(outcome).toEqual(failure(what));
    expect(tools.settled).toEqual([]);
    expect(rows.map(({ type }) => type)).not.toContain('assistant_message');
  });

  test('L3.7 X32 the part before the one that is too long is still told', async () => {
    const { outcome, events } = await play([[done(half), done(rest)]]);
    expect(outcome).toEqual(failure('words'));
    expect(events[0]).toEqual({ kind: 'done', text: half, tool_calls: [] });
  });

  test('X32 up to the limit it is a reply', async () => {
    const whole = half + half;
    const { outcome, rows } = await play([[text(half), text(half), done(whole)]]);
    expect(outcome).toBe('completed');
    expect(rows[0]).toMatchObject({ type: 'assistant_message' });
  });
});
