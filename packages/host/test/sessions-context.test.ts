import { callTools, FakeToolRegistry, Gate, say, ScriptedLlm } from '@celestea/agent-loop/testing';
import { zeroUsage, type ToolCall, type ToolRegistry, type Usage } from '@celestea/core';
import { describe, expect, test, vi } from 'vitest';

import { HostError } from '../src/sessions/index.ts';
import { TurnMeter } from '../src/sessions/turn-meter.ts';
import { liveSession, othersTurn, partsOf, type SeenEvent } from './sessions-support.ts';

const call = (id: string, name: string, args: unknown = {}): ToolCall => ({ id, name, args });

const usage = (total: number): Usage => ({ ...zeroUsage(), total_tokens: total });

const isName =
  (name: string) =>
  (event: SeenEvent): boolean =>
    event.name === name;

describe('progress', () => {
  test('is told at most once in each span, only when there was some, and not after the end', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    let now = 1000;
    const gates = [new Gate(), new Gate()] as const;
    const llm = new ScriptedLlm([
      [
        ...['a', 'b', 'c'].map((text) => ({ kind: 'text', text }) as const),
        { kind: 'usage', usage: usage(9) },
        () => gates[0].wait(),
        ...say('Done.'),
      ],
      [() => gates[1].wait(), ...say('Again.')],
    ]);
    const { session, reader } = await liveSession(
      partsOf(llm, { now: () => now, progressMs: 500, config: { system_prompt: 'x'.repeat(40) } }),
    );
    const turn = session.startTurn('hi');
    while (gates[0].waiting === 0) await othersTurn();
    const progress = (): SeenEvent[] =>
      reader.events.filter(({ payload }) => payload['phase'] === 'progress');
    vi.advanceTimersByTime(499);
    expect(progress()).toEqual([]);
    now += 500;
    vi.advanceTimersByTime(1);
    expect(progress()).toEqual([
      {
        name: 'status',
        turn,
        payload: {
          phase: 'progress',
          steps: 1,
          deltas_per_second: 6,
          context_tokens: session.context().tokens.total,
          window: 65_536,
          usage: usage(9),
          total: usage(9),
        },
      },
    ]);
    now += 1500;
    vi.advanceTimersByTime(1500);
    expect(progress().map(({ payload }) => payload['deltas_per_second'])).toEqual([6, 0]);
    gates[0].open();
    await reader.end(turn);
    expect(vi.getTimerCount()).toBe(0);
    const told = progress().length;
    const next = session.startTurn('again');
    while (gates[1].waiting === 0) await othersTurn();
    vi.advanceTimersByTime(500);
    expect(progress().at(-1)?.payload).toMatchObject({ usage: zeroUsage(), total: usage(9) });
    expect(progress()).toHaveLength(told + 1);
    gates[1].open();
    const ended = ({ name, turn: of }: SeenEvent): boolean => name === 'turn_end' && of === next;
    await reader.until(ended);
    expect(session.running()).not.toBeNull();
    now += 500;
    vi.advanceTimersByTime(500);
    await reader.end(next);
    expect(progress()).toHaveLength(told + 1);
  });

  test('counts the tokens of each request anew', async () => {
    const meter = new TurnMeter(() => 0);
    expect(meter.contextTokens).toBe(0);
    const llm = meter.watch(new ScriptedLlm([say('one'), say('two')]));
    const request = { model: 'm', messages: [], tools: [], max_tokens: null, temperature: null };
    await llm.generate({ ...request, system: null });
    expect([meter.steps, meter.contextTokens]).toEqual([1, 0]);
    await llm.generate({ ...request, system: 'y'.repeat(40) });
    expect([meter.steps, meter.contextTokens]).toEqual([2, 10]);
  });
});

describe('the context', () => {
  test('is the next request with its tokens by part', async () => {
    const config = { system_prompt: 'y'.repeat(40), context_window_tokens: 1000 };
    const tools = (): ToolRegistry => new FakeToolRegistry({ x: () => 'found' });
    const llm = new ScriptedLlm([callTools(call('a', 'x')), say('Done.')]);
    const { session, reader } = await liveSession(partsOf(llm, { tools, config }));
    const empty = session.context();
    expect(empty).toMatchObject({ window: 1000, budget: 800 });
    expect(empty.tokens).toMatchObject({
      system: 10,
      messages: { system: 0, user: 0, assistant: 0, tool: 0 },
    });
    expect(empty.request.tools).toMatchObject([{ name: 'x' }]);
    await reader.end(session.startTurn('hi'));
    const { tokens, request } = session.context();
    const { user, assistant, tool, system } = tokens.messages;
    expect([system, user]).toEqual([0, 5]);
    expect(assistant).toBeGreaterThan(0);
    expect(tool).toBeGreaterThan(0);
    expect(tokens.total).toBe(tokens.system + tokens.tools + user + assistant + tool);
    expect(request.messages).toHaveLength(4);
  });

  test('without a window has no budget', async () => {
    const config = { context_window_tokens: 0 };
    const { session } = await liveSession(partsOf(new ScriptedLlm([]), { config }));
    expect(session.context()).toMatchObject({ window: 0, budget: null });
  });

  test('that cannot be made to fit fails with the numbers', async () => {
    const config = { context_window_tokens: 1, system_prompt: 'z'.repeat(4000) };
    const { session } = await liveSession(partsOf(new ScriptedLlm([]), { config }));
    expect(() => session.context()).toThrow(HostError);
    expect(() => session.context()).toThrow(/needs 1000 tokens and the budget is 1/);
  });

  test('what was cut of it is told once, and again when more is cut', async () => {
    const config = { context_window_tokens: 200, system_prompt: '', context_keep_recent: 1 };
    const words = 'w'.repeat(300);
    const llm = new ScriptedLlm([say('one'), callTools(call('a', 'x')), say('two'), say('three')]);
    const { session, reader } = await liveSession(partsOf(llm, { config }));
    const told: unknown[][] = [];
    for (const input of [words, words, 'short']) {
      const before = reader.events.length;
      await reader.end(session.startTurn(input));
      const cuts = reader.events.slice(before).filter(isName('compact'));
      told.push(cuts.map(({ payload }) => payload['removed_messages']));
    }
    expect(told).toEqual([[], [2], [6]]);
    const [cut] = reader.events.filter(isName('compact'));
    expect(cut).toMatchObject({ turn: 'turn-1', payload: { removed_messages: 2 } });
    expect(cut?.payload['removed_tokens']).toBeGreaterThan(0);
  });
});
