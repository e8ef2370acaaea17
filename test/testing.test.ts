import { setImmediate } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { createAgentLoop } from '@celestea/agent-loop';
import {
  callTools,
  collectingSink,
  done,
  failingLlm,
  FakeSessionLog,
  FakeToolRegistry,
  Gate,
  HangingLlm,
  RecordingLlm,
  say,
  ScriptedLlm,
  steeringSource,
  testContext,
  think,
  thinkSigned,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  userMessage,
  type Llm,
  type LlmStream,
  type ModelRequest,
  type SessionEvent,
  type StreamEvent,
  type Tool,
} from '@celestea/core';

const request = (model = 'm'): ModelRequest => ({
  model,
  system: null,
  messages: [userMessage('go')],
  tools: [],
  max_tokens: null,
  temperature: null,
});
const call = { id: 'a', name: 'time', args: { zone: 'UTC' } };

async function readAll(stream: LlmStream): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe('the models', () => {
  test('X16 short forms of events', () => {
    expect(think('hm')).toEqual({ kind: 'thinking', text: 'hm' });
    expect(thinkSigned('', { s: 1 })).toEqual({ kind: 'thinking', text: '', meta: { s: 1 } });
    expect(say('hi')).toEqual([
      { kind: 'text', text: 'hi' },
      {
        kind: 'done',
        message: {
          role: 'assistant',
          content: [{ type: 'text', content: 'hi' }],
          tool_call_id: null,
        },
      },
    ]);
    const content = [{ type: 'tool_call', content: call }];
    const message = { role: 'assistant', content, tool_call_id: null };
    expect(callTools(call)).toEqual([{ kind: 'done', message }]);
    expect(done('so', call)).toEqual({
      kind: 'done',
      message: { ...message, content: [{ type: 'text', content: 'so' }, ...content] },
    });
  });

  test('X16 ScriptedLlm plays one script a request and keeps what it was asked', async () => {
    const llm = new ScriptedLlm([say('one'), say('two')]);
    const { signal } = new AbortController();
    expect(await readAll(await llm.generate(request('first'), { signal }))).toEqual(say('one'));
    expect(await readAll(await llm.generate(request('second')))).toEqual(say('two'));
    expect(llm.requests.map(({ model }) => model)).toEqual(['first', 'second']);
    expect(llm.signals).toEqual([signal, undefined]);
    await expect(llm.generate(request())).rejects.toThrow('no script for request 3: it has 2');
  });

  test('X16 ScriptedLlm waits for actions, and throws what they throw', async () => {
    const gate = new Gate();
    const trace: string[] = [];
    const llm = new ScriptedLlm([
      [
        think('a'),
        () => gate.wait(),
        think('b'),
        () => {
          throw new Error('torn');
        },
      ],
    ]);
    const reading = (async () => {
      for await (const event of await llm.generate(request())) trace.push(event.kind);
    })();
    const result = reading.catch((error: unknown) => error);
    await setImmediate();
    expect(trace).toEqual(['thinking']);
    gate.open();
    expect(await result).toEqual(new Error('torn'));
    expect(trace).toEqual(['thinking', 'thinking']);
  });

  test('X16 ScriptedLlm tells what became of each stream', async () => {
    const torn = () => {
      throw new Error('torn');
    };
    const llm = new ScriptedLlm([say('one'), say('two'), [torn], say('four')]);
    await readAll(await llm.generate(request()));
    for await (const event of await llm.generate(request())) {
      expect(event.kind).toBe('text');
      break;
    }
    await readAll(await llm.generate(request())).catch(() => undefined);
    const left = (await llm.generate(request()))[Symbol.asyncIterator]();
    await left.next();
    expect(llm.fates).toEqual(['ended', 'closed', 'threw', 'open']);
    await left.return?.();
    expect(llm.fates[3]).toBe('closed');
  });

  test('X16 ScriptedLlm tells of a stream that was closed before its first read', async () => {
    const inner = new ScriptedLlm([say('one'), say('two'), say('three')]);
    const llm = new RecordingLlm(inner);
    await (await inner.generate(request()))[Symbol.asyncIterator]().return?.();
    await inner.generate(request());
    expect(inner.fates).toEqual(['closed', 'open']);
    const recorded = (await llm.generate(request()))[Symbol.asyncIterator]();
    await recorded.return?.();
    expect(inner.fates).toEqual(['closed', 'open', 'closed']);
    expect(await recorded.next()).toEqual({ done: true, value: undefined });
    expect(llm.replies).toEqual([[]]);
  });

  test.each(['reject', 'throw'] as const)('X16 failingLlm can %s with anything', async (how) => {
    for (const error of [new Error('no key'), 'no key', undefined]) {
      const ask = async () => failingLlm(error, how).generate(request());
      expect(await ask().catch((thrown: unknown) => ({ thrown }))).toStrictEqual({ thrown: error });
    }
    let returned: unknown;
    try {
      returned = failingLlm('no key', how).generate(request());
      await returned;
    } catch {
      expect(returned instanceof Promise).toBe(how === 'reject');
    }
  });

  test('X16 HangingLlm hangs in generate, or in its stream, and counts the closes', async () => {
    const settled: string[] = [];
    void new HangingLlm().generate().then(() => settled.push('generate'));
    const llm = new HangingLlm([think('hm')]);
    const iterator = (await llm.generate())[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: think('hm') });
    void iterator.next().then(() => settled.push('next'));
    await setImmediate();
    expect(settled).toEqual([]);
    expect(llm.closed).toBe(0);
    await iterator.return?.();
    expect(llm.closed).toBe(1);
  });

  test('X16 RecordingLlm keeps requests and replies, and hands on signal and failure', async () => {
    const inner = new ScriptedLlm([say('one'), say('two')]);
    const llm: Llm & RecordingLlm = new RecordingLlm(inner);
    const { signal } = new AbortController();
    await readAll(await llm.generate(request('first'), { signal }));
    for await (const event of await llm.generate(request())) {
      expect(event.kind).toBe('text');
      break;
    }
    await expect(llm.generate(request())).rejects.toThrow('no script');
    expect(inner.signals[0]).toBe(signal);
    expect(llm.requests).toEqual(inner.requests);
    expect(llm.replies).toEqual([say('one'), [{ kind: 'text', text: 'two' }], []]);
    expect(inner.fates).toEqual(['ended', 'closed']);
  });
});

describe('the log', () => {
  const opened: SessionEvent[] = [
    { type: 'turn_start', id: 'turn-4' },
    { type: 'user_message', text: 'go' },
  ];

  test('X16 FakeSessionLog starts with rows, keeps order, counts turns on', () => {
    const given = [...opened];
    const log = new FakeSessionLog({ rows: given });
    log.append({ type: 'assistant_message', text: 'hi' });
    expect(given).toHaveLength(2);
    expect(log.events()).toEqual([...opened, { type: 'assistant_message', text: 'hi' }]);
    expect(log.events()).not.toBe(log.events());
    expect(log.deriveMessages().map((message) => message.role)).toEqual(['user', 'assistant']);
    expect([log.nextTurnId(), log.nextTurnId()]).toEqual(['turn-5', 'turn-6']);
    log.clear();
    expect(log.events()).toEqual([]);
    expect(log.nextTurnId()).toBe('turn-7');
    expect(new FakeSessionLog().nextTurnId()).toBe('turn-0');
  });

  test('X16 FakeSessionLog fails where a hook throws, and keeps nothing of that row', () => {
    const seen: [string, number][] = [];
    const log = new FakeSessionLog({
      rows: opened,
      onAppend: (row, index) => {
        seen.push([row.type, index]);
        if (row.type === 'thinking_delta') throw new Error('disk full');
      },
      onDerive: () => {
        throw new Error('no projection');
      },
    });
    expect(() => {
      log.append({ type: 'thinking_delta', text: 'hm' });
    }).toThrow('disk full');
    log.append({ type: 'assistant_message', text: 'hi' });
    expect(seen).toEqual([
      ['thinking_delta', 2],
      ['assistant_message', 2],
    ]);
    expect(log.rows).toHaveLength(3);
    expect(() => log.deriveMessages()).toThrow('no projection');
  });

  test('X16 FakeSessionLog has a flush only when asked; it fails as the hook does', async () => {
    expect(new FakeSessionLog().flush).toBeUndefined();
    let flushed = 0;
    await new FakeSessionLog({ onFlush: () => (flushed += 1) }).flush?.();
    expect(flushed).toBe(1);
    const onFlush = () => {
      throw new Error('disk full');
    };
    await expect(new FakeSessionLog({ onFlush }).flush?.()).rejects.toThrow('disk full');
  });
});

describe('the registry', () => {
  test('X16 FakeToolRegistry answers, fails and does not know, as outputs', async () => {
    const tools = new FakeToolRegistry({
      time: () => 'noon',
      nothing: () => undefined,
      bad: () => Promise.reject(new Error('no disk')),
    });
    const ask = (name: string) => tools.dispatch({ call_id: name, name, args: null });
    const answer = { render: null, decision: null };
    expect(await ask('time')).toEqual({ ...answer, call_id: 'time', value: 'noon', error: null });
    expect(await ask('nothing')).toMatchObject({ value: null, error: null });
    expect(await ask('bad')).toMatchObject({ value: null, error: 'no disk' });
    expect(await ask('other')).toMatchObject({ value: null, error: 'unknown tool other' });
    const asked = ['time', 'nothing', 'bad', 'other'];
    expect(tools.dispatched.map((input) => input.name)).toEqual(asked);
    expect(tools.settled).toEqual(asked);
    expect(tools.schemas().map((spec) => spec.name)).toEqual(['bad', 'nothing', 'time']);
    expect(tools.get('other')).toBeUndefined();
    expect(await tools.get('time')?.execute(null)).toBe('noon');
  });

  test('X16 FakeToolRegistry records the order of settling and the most at a time', async () => {
    const gate = new Gate();
    const tools = new FakeToolRegistry({ wait: () => gate.wait(), now: () => 1 });
    const slow = tools.dispatch({ call_id: 'slow', name: 'wait', args: null });
    await tools.dispatch({ call_id: 'one', name: 'now', args: null });
    await tools.dispatch({ call_id: 'two', name: 'now', args: null });
    expect(gate.waiting).toBe(1);
    gate.open();
    await slow;
    expect(tools.settled).toEqual(['one', 'two', 'slow']);
    expect(tools.maxConcurrent).toBe(2);
  });

  test('X16 a tool is handed its arguments, its input and the signal', async () => {
    const { signal } = new AbortController();
    const seen: unknown[] = [];
    const tools = new FakeToolRegistry({ look: (...given) => seen.push(given) });
    const input = { call_id: 'a', name: 'look', args: [1] };
    await tools.dispatch(input, { signal });
    expect(seen).toEqual([[[1], { input, signal }]]);
  });

  test('X16 tools can be registered, and guards are kept', async () => {
    const tools = new FakeToolRegistry();
    const spec = { name: 'late', description: '', parameters: {} };
    tools.register({ spec: () => spec, execute: (args) => Promise.resolve(args) });
    const guard = { check: () => Promise.resolve({ kind: 'allow' } as const) };
    tools.addGuard(guard);
    expect(tools.guards).toEqual([guard]);
    const output = await tools.dispatch({ call_id: 'a', name: 'late', args: 7 });
    expect(output).toMatchObject({ value: 7, error: null });
  });

  test('X16 a registered tool keeps its spec, and its executeWith says what it is', async () => {
    const spec = { name: 'own', description: 'mine', parameters: { type: 'object', a: 1 } };
    const surface = { kind: 'truncation', note: 'Cut.' };
    const seen: unknown[] = [];
    const tool: Tool = {
      spec: () => spec,
      execute: () => Promise.reject(new Error('not this one')),
      executeWith: (...given) => {
        seen.push(given);
        return Promise.resolve({ value: undefined, render: 'for people', surface });
      },
    };
    const tools = new FakeToolRegistry({ zeta: () => 1, alpha: () => 2 });
    tools.register(tool);
    expect(tools.get('own')).toBe(tool);
    expect(tools.schemas().map(({ name }) => name)).toEqual(['alpha', 'own', 'zeta']);
    expect(tools.schemas()[1]).toBe(spec);
    const { signal } = new AbortController();
    const input = { call_id: 'a', name: 'own', args: 7 };
    expect(await tools.dispatch(input, { signal })).toStrictEqual({
      call_id: 'a',
      value: null,
      render: 'for people',
      error: null,
      decision: null,
      surface,
    });
    expect(seen).toEqual([[input, { signal }]]);
  });

  test('X16 a tool that throws at once is a failed call', async () => {
    const bad = () => {
      throw new Error('no disk');
    };
    const tools = new FakeToolRegistry({ bad });
    const output = await tools.dispatch({ call_id: 'a', name: 'bad', args: null });
    expect(output).toMatchObject({ value: null, error: 'no disk' });
    await expect(tools.get('bad')?.execute(null)).rejects.toThrow('no disk');
  });
});

describe('the scope and the sink', () => {
  test('X16 testContext provides the three services, fakes unless given', () => {
    const llm = new HangingLlm();
    const log = new FakeSessionLog();
    const tools = new FakeToolRegistry();
    const full = testContext({ llm, log, tools });
    expect(full.get(LLM_SERVICE)).toBe(llm);
    expect(full.get(SESSION_LOG_SERVICE)).toBe(log);
    expect(full.get(TOOL_REGISTRY_SERVICE)).toBe(tools);
    const bare = testContext({ llm });
    expect(bare.get(SESSION_LOG_SERVICE)).toBeInstanceOf(FakeSessionLog);
    expect(bare.get(TOOL_REGISTRY_SERVICE)).toBeInstanceOf(FakeToolRegistry);
  });

  test('X16 collectingSink keeps every event, oldest first', () => {
    const { sink, events } = collectingSink();
    sink({ kind: 'text', delta: 'a' });
    sink({ kind: 'turn_end', outcome: 'completed' });
    expect(events).toEqual([
      { kind: 'text', delta: 'a' },
      { kind: 'turn_end', outcome: 'completed' },
    ]);
  });
});

describe('messages for a running turn', () => {
  test('X16 steeringSource hands over what was pushed, once, oldest first', () => {
    const steering = steeringSource('one');
    steering.push('two', 'Ann');
    expect(steering.pending()).toBe(2);
    expect(steering.drain()).toEqual([
      { text: 'one', from: '' },
      { text: 'two', from: 'Ann' },
    ]);
    expect(steering.pending()).toBe(0);
    expect(steering.drain()).toEqual([]);
    expect(steering.drains).toBe(2);
  });

  test('X6 X16 a tool can steer the turn it runs in', async () => {
    const steering = steeringSource();
    const log = new FakeSessionLog();
    const tools = new FakeToolRegistry({
      time: () => {
        steering.push('and be brief', 'Ann');
      },
    });
    const llm = new ScriptedLlm([callTools(call), say('Noon.')]);
    const loop = createAgentLoop(defaultAgentConfig());
    await loop.runTurn(testContext({ llm, log, tools }), 'go', { injections: steering });
    const texts = log.rows.flatMap((row) => (row.type === 'user_message' ? [row.text] : []));
    expect(texts).toEqual(['go', '[from Ann] and be brief']);
  });
});
