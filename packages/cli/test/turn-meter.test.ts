import { FakeToolRegistry, Gate, say, ScriptedLlm } from '@celestea/agent-loop/testing';
import { zeroUsage } from '@celestea/core';
import { defineTool } from '@celestea/tools';
import { expect, it } from 'vitest';

import { TurnMeter } from '../src/turn-meter.ts';
import { FakeClock } from './support/io.ts';

const input = (call_id: string, name: string) => ({ call_id, name, args: {} });

it('counts the requests, also those that fail, and hands everything on', async () => {
  const inner = new ScriptedLlm([say('a')]);
  const meter = new TurnMeter(new FakeClock().now);
  const llm = meter.countSteps(inner);
  const { signal } = new AbortController();
  const request = {
    model: 'm', system: null, messages: [], tools: [], max_tokens: null, temperature: null,
  };
  await llm.generate(request, { signal });
  await expect(llm.generate(request)).rejects.toThrow('no script');
  expect(meter.totals().steps).toBe(2);
  expect(inner.requests).toEqual([request, request]);
  expect(inner.signals).toEqual([signal, undefined]);
});

it('adds up tokens and time', () => {
  const clock = new FakeClock();
  const meter = new TurnMeter(clock.now);
  const usage = { ...zeroUsage(), prompt_tokens: 5, completion_tokens: 2 };
  meter.usage.record(usage);
  meter.usage.record(usage);
  clock.pass(70);
  expect(meter.totals()).toEqual({
    steps: 0,
    usage: { ...zeroUsage(), prompt_tokens: 10, completion_tokens: 4 },
    milliseconds: 70,
  });
});

it('times each of several calls that run at once', async () => {
  const clock = new FakeClock();
  const meter = new TurnMeter(clock.now);
  const [slow, fast] = [new Gate(), new Gate()];
  const tools = meter.timeCalls(
    new FakeToolRegistry({ slow: () => slow.wait(), fast: () => fast.wait() }),
  );
  const slowCall = tools.dispatch(input('a', 'slow'));
  clock.pass(5);
  const fastCall = tools.dispatch(input('b', 'fast'));
  clock.pass(10);
  fast.open();
  await fastCall;
  clock.pass(100);
  expect(meter.callMilliseconds('a')).toBe(115); // still running
  slow.open();
  await slowCall;
  clock.pass(1000);
  expect(meter.callMilliseconds('b')).toBe(10);
  expect(meter.callMilliseconds('b')).toBeNull(); // was asked for
  expect(meter.callMilliseconds('never started')).toBeNull();
});

it('tells two calls with one id apart by their order', async () => {
  const clock = new FakeClock();
  const meter = new TurnMeter(clock.now);
  const gates = [new Gate(), new Gate()];
  const tools = meter.timeCalls(
    new FakeToolRegistry({ first: () => gates[0]?.wait(), second: () => gates[1]?.wait() }),
  );
  const calls = [tools.dispatch(input('x', 'first')), tools.dispatch(input('x', 'second'))];
  clock.pass(3);
  gates[1]?.open();
  await calls[1];
  clock.pass(4);
  gates[0]?.open();
  await calls[0];
  expect([meter.callMilliseconds('x'), meter.callMilliseconds('x')]).toEqual([7, 3]);
});

it('times a dispatch that rejects, and stands in for the registry in full', async () => {
  const clock = new FakeClock();
  const meter = new TurnMeter(clock.now);
  const inner = new FakeToolRegistry();
  const tools = meter.timeCalls({
    register: (tool) => {
      inner.register(tool);
    },
    addGuard: (guard) => {
      inner.addGuard(guard);
    },
    get: (name) => inner.get(name),
    schemas: () => inner.schemas(),
    dispatch: () => Promise.reject(new Error('broken')),
  });
  const guard = { check: () => Promise.resolve({ kind: 'allow' } as const) };
  tools.register(
    defineTool({ name: 'one', description: 'One.', parameters: {}, execute: () => 1 }),
  );
  tools.addGuard(guard);
  expect(tools.schemas().map(({ name }) => name)).toEqual(['one']);
  expect(tools.get('one')?.spec().name).toBe('one');
  expect(tools.get('two')).toBeUndefined();
  expect(inner.guards).toEqual([guard]);
  await expect(tools.dispatch(input('a', 'one'))).rejects.toThrow('broken');
  clock.pass(9);
  expect(meter.callMilliseconds('a')).toBe(0);
});
