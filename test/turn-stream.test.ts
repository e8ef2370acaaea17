import { describe, expect, test, vi } from 'vitest';

import { createAgentLoop, type AgentLoopBindings, type TurnStream } from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  collectingSink,
  FakeSessionLog,
  FakeToolRegistry,
  Gate,
  HangingLlm,
  say,
  ScriptedLlm,
  testContext,
  think,
  type Script,
} from '@celestea/agent-loop/testing';
import {
  AgentError,
  Context,
  defaultAgentConfig,
  type Llm,
  type LoopEvent,
  type SessionLog,
} from '@celestea/core';

import { call, quiet, settled } from './support/turn.ts';

const scripts: Script[] = [
  [think('hm'), { kind: 'text', text: 'Let me look.' }, ...callTools(call('a'), call('b'))],
  say('It is noon.'),
];
const kinds = [
  ...['thinking', 'text', 'done', 'tool_call', 'tool_call', 'tool_result', 'tool_result'],
  ...['text', 'done', 'turn_end'],
];

function start(
  llm: Llm = new ScriptedLlm(scripts),
  log: SessionLog = new FakeSessionLog(),
  bindings: AgentLoopBindings = {},
): TurnStream {
  const tools = new FakeToolRegistry({ echo: (args) => args });
  const loop = createAgentLoop(defaultAgentConfig(), bindings);
  return loop.streamTurn(testContext({ llm, log, tools }), 'go');
}

async function collect(stream: TurnStream, into: LoopEvent[] = []): Promise<LoopEvent[]> {
  for await (const event of stream) into.push(event);
  return into;
}

describe('X5 a stream of a turn', () => {
  test('X5 gives the very events of the sink, in their order, and the outcome', async () => {
    const { sink, events } = collectingSink();
    const stream = start(undefined, undefined, { sink });
    const read = await collect(stream);
    expect(read.map(({ kind }) => kind)).toEqual(kinds);
    expect(read).toEqual(events);
    expect(await stream.outcome).toBe('completed');
  });

  test('X5 gives the same rows as a promise', async () => {
    const logs = [new FakeSessionLog(), new FakeSessionLog()];
    const [streamed = new FakeSessionLog(), promised = new FakeSessionLog()] = logs;
    await collect(start(undefined, streamed));
    const tools = new FakeToolRegistry({ echo: (args) => args });
    const ctx = testContext({ llm: new ScriptedLlm(scripts), log: promised, tools });
    await createAgentLoop(defaultAgentConfig()).runTurn(ctx, 'go');
    expect(streamed.rows).toEqual(promised.rows);
  });

  test.each(['done', 'tool_call'])('X5 L4.5 left at %s, it runs no tool', async (kind) => {
    const echo = vi.fn((args: unknown) => args);
    const ctx = testContext({ llm: new ScriptedLlm(scripts), tools: new FakeToolRegistry({ echo }) });
    const stream = createAgentLoop(defaultAgentConfig()).streamTurn(ctx, 'go');
    for await (const event of stream) if (event.kind === kind) break;
    expect(await stream.outcome).toBe('cancelled');
    expect(echo).not.toHaveBeenCalled();
  });

  test('X5 starts at once, before anybody reads', () => {
    const log = new FakeSessionLog();
    const stream = start(new HangingLlm(), log);
    expect(log.rows).toEqual([
      { type: 'turn_start', id: 'turn-0' },
      { type: 'user_message', text: 'go' },
    ]);
    stream.cancel();
    return stream.outcome;
  });

  test('X5 keeps events until they are read, also after the turn has ended', async () => {
    const stream = start();
    expect(await stream.outcome).toBe('completed');
    await quiet();
    expect((await collect(stream)).map(({ kind }) => kind)).toEqual(kinds);
  });

  test('X5 a reader that falls behind gets every event once', async () => {
    const stream = start();
    const read: LoopEvent[] = [];
    for await (const event of stream) {
      read.push(event);
      await quiet(read.length % 3);
    }
    expect(read.map(({ kind }) => kind)).toEqual(kinds);
  });

  test('X5 a reader that waits gets an event when it comes, not later', async () => {
    const gate = new Gate();
    const stream = start(new ScriptedLlm([[think('hm'), () => gate.wait(), ...say('Hi.')]]));
    const iterator = stream[Symbol.asyncIterator]();
    const thinking = { kind: 'thinking', delta: 'hm' };
    expect(await iterator.next()).toEqual({ done: false, value: thinking });
    const next = iterator.next();
    expect(await Promise.race([next, quiet().then(() => 'waiting')])).toBe('waiting');
    gate.open();
    expect(await next).toEqual({ done: false, value: { kind: 'text', delta: 'Hi.' } });
    await iterator.return?.();
  });

  test('X5 reads asked for at once are answered in order, then with the end', async () => {
    const iterator = start()[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 12 }, () => iterator.next()));
    expect(results.map(({ value }) => value?.kind)).toEqual([...kinds, undefined, undefined]);
    expect(results.map(({ done }) => done)).toEqual([...kinds.map(() => false), true, true]);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  test('X5 has one reader: a second one is an AgentError, and the first reads on', async () => {
    const stream = start();
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    expect(() => stream[Symbol.asyncIterator]()).toThrow(
      new AgentError('a TurnStream has one reader, and it has one already'),
    );
    await expect(collect(stream)).rejects.toThrow(AgentError);
    expect(await iterator.next()).toMatchObject({ value: { kind: 'text' } });
    await stream.outcome;
  });

  test('X5 an event is not lost to a reader that gave up waiting for the one before', async () => {
    const gate = new Gate();
    const stream = start(new ScriptedLlm([[() => gate.wait(), ...say('Hi.')]]));
    const iterator = stream[Symbol.asyncIterator]();
    const first = iterator.next();
    const second = iterator.next();
    gate.open();
    expect(await second).toMatchObject({ value: { kind: 'done' } });
    expect(await first).toMatchObject({ value: { kind: 'text' } });
    await iterator.return?.();
  });
});

describe('X5 leaving the for await early', () => {
  test.each(kinds.slice(0, -1).map((kind, index) => ({ kind, index })))(
    'X5 at event $index, $kind, cancels the turn and waits for its end',
    async ({ index }) => {
      for (const how of ['break', 'throw'] as const) {
        const log = new FakeSessionLog();
        const stream = start(undefined, log);
        let read = 0;
        const leave = async (): Promise<void> => {
          for await (const event of stream) {
            read += 1;
            if (event.kind !== kinds[index] || read !== index + 1) continue;
            if (how === 'break') break;
            throw new Error('the consumer failed');
          }
        };
        const left = await settled(leave());
        expect(left).toEqual(
          how === 'break' ? { resolved: undefined } : { error: new Error('the consumer failed') },
        );
        const { type } = log.rows.at(-1) ?? {};
        expect(type, 'the turn has ended when the loop is left').toBe('turn_end');
        assertLogValid(log.rows);
        expect(['cancelled', 'completed']).toContain(await stream.outcome);
      }
    },
  );

  test.each([
    ['in generate', new HangingLlm(), 0],
    ['in its stream', new HangingLlm([think('hm')]), 1],
  ])('X5 while the model hangs %s', async (_, llm, events) => {
    const log = new FakeSessionLog();
    const stream = start(llm, log);
    const iterator = stream[Symbol.asyncIterator]();
    for (let read = 0; read < events; read += 1) await iterator.next();
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(log.rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome: 'cancelled' });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(await stream.outcome).toBe('cancelled');
  });

  test('X5 waits for the last flush, too', async () => {
    const gate = new Gate();
    let flushes = 0;
    const log = new FakeSessionLog({
      onFlush: () => {
        flushes += 1;
        return flushes === 2 ? gate.wait() : undefined;
      },
    });
    const stream = start(new HangingLlm([think('hm')]), log);
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    const left = Promise.resolve(iterator.return?.());
    const early = await Promise.race([left, quiet().then(() => 'waiting')]);
    expect(early).toBe('waiting');
    gate.open();
    expect(await left).toEqual({ done: true, value: undefined });
  });

  test('X5 a read that is waiting meanwhile is answered with the end of the turn', async () => {
    const stream = start(new HangingLlm());
    const iterator = stream[Symbol.asyncIterator]();
    const [first, second, left] = [iterator.next(), iterator.next(), iterator.return?.()];
    expect(await first).toEqual({
      done: false,
      value: { kind: 'turn_end', outcome: 'cancelled' },
    });
    expect(await second).toEqual({ done: true, value: undefined });
    await left;
  });
});

describe('X5 cancel', () => {
  test('X5 from outside: events go on until turn_end, the reason reaches the work', async () => {
    const reason = new Error('stop');
    const llm = new ScriptedLlm([[think('hm'), () => new Promise(() => undefined)]]);
    const stream = start(llm);
    const read: LoopEvent[] = [];
    const reading = collect(stream, read);
    await quiet();
    stream.cancel(reason);
    stream.cancel(new Error('a second reason'));
    await reading;
    expect(read).toEqual([
      { kind: 'thinking', delta: 'hm' },
      { kind: 'turn_end', outcome: 'cancelled' },
    ]);
    expect(await stream.outcome).toBe('cancelled');
    expect(llm.signals[0]?.reason).toBe(reason);
  });

  test('X5 in the loop body, without leaving it', async () => {
    const stream = start();
    const read: string[] = [];
    for await (const { kind } of stream) {
      read.push(kind);
      if (kind === 'thinking') stream.cancel();
    }
    expect(read.at(-1)).toBe('turn_end');
    expect(await stream.outcome).toBe('cancelled');
  });

  test('X5 after the end it changes nothing', async () => {
    const log = new FakeSessionLog();
    const stream = start(undefined, log);
    await collect(stream);
    const rows = [...log.rows];
    stream.cancel();
    await quiet();
    expect(await stream.outcome).toBe('completed');
    expect(log.rows).toEqual(rows);
  });

  test('X5 the caller’s own signal cancels as well, with nothing left on it', async () => {
    const controller = new AbortController();
    const stream = start(new HangingLlm(), undefined, { signal: controller.signal });
    const reading = collect(stream);
    controller.abort();
    expect(await reading).toEqual([{ kind: 'turn_end', outcome: 'cancelled' }]);
  });
});

const fault = new Error('disk full');
const brokenLog = (at: string): FakeSessionLog =>
  new FakeSessionLog({
    onAppend: ({ type }) => {
      if (type === at) throw fault;
    },
    onFlush: () => {
      if (at === 'flush') throw fault;
    },
  });

const AGENT_ERROR = new AgentError('missing LlmService in context');

/** Every way that a turn has no outcome, with the events there are before it says so. */
const failures: [name: string, start: () => TurnStream, error: Error, events: string[]][] = [
  ['turn_start breaks', () => start(undefined, brokenLog('turn_start')), fault, []],
  ['user_message breaks', () => start(undefined, brokenLog('user_message')), fault, ['turn_end']],
  ['flush breaks', () => start(undefined, brokenLog('flush')), fault, ['turn_end']],
  ['turn_end breaks', () => start(undefined, brokenLog('turn_end')), fault, kinds],
  [
    'a service is missing',
    () => createAgentLoop(defaultAgentConfig()).streamTurn(Context.root(), 'go'),
    AGENT_ERROR,
    [],
  ],
];

describe.each(failures)('X5 %s', (_, begin, error, events) => {
  test('X5 both settle: the iteration throws after the last event, outcome rejects', async () => {
    const stream = begin();
    const read: LoopEvent[] = [];
    expect(await settled(collect(stream, read))).toEqual({ error });
    expect(read.map(({ kind }) => kind)).toEqual(events);
    expect(await settled(stream.outcome)).toEqual({ error });
  });

  test('X5 the fault is thrown once, then the stream is at its end', async () => {
    const iterator = begin()[Symbol.asyncIterator]();
    const asked = Array.from({ length: events.length + 2 }, () => settled(iterator.next()));
    const results = await Promise.all(asked);
    expect(results.slice(-2)).toEqual([{ error }, { resolved: { done: true, value: undefined } }]);
  });

  test('X5 nobody looks at either: nothing goes unhandled', async () => {
    begin();
    await quiet(20);
  });

  test('X5 only outcome is looked at', async () => {
    expect(await settled(begin().outcome)).toEqual({ error });
    await quiet();
  });

  test('X5 only the iteration is looked at', async () => {
    expect(await settled(collect(begin()))).toEqual({ error });
    await quiet();
  });

  test('X5 left at once: the fault is not thrown at the one who left', async () => {
    const iterator = begin()[Symbol.asyncIterator]();
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });
});

test('X5 a stream of misuse writes nothing and rejects, it does not throw', async () => {
  const log = new FakeSessionLog();
  const ctx = testContext({ llm: new ScriptedLlm(scripts), log });
  const loop = createAgentLoop(defaultAgentConfig());
  for (const wrong of [7, { sink: 1 }, null]) {
    const stream: unknown = Reflect.apply(loop.streamTurn.bind(loop), null, [ctx, 'go', wrong]);
    const { outcome } = stream as TurnStream;
    expect(await settled(outcome)).toHaveProperty('error.name', 'TypeError');
  }
  expect(log.rows).toEqual([]);
});
