import {
  assertLogValid,
  callTools,
  done,
  failingLlm,
  FakeToolRegistry,
  Gate,
  HangingLlm,
  say,
  ScriptedLlm,
  think,
} from '@celestea/agent-loop/testing';
import { zeroUsage, type ToolCall, type ToolRegistry, type Usage } from '@celestea/core';
import { askBefore, DefaultToolRegistry, defineTool } from '@celestea/tools';
import { describe, expect, test } from 'vitest';

import type { LiveSession, LiveSessionParts } from '../src/sessions/index.ts';
import { codeOf, liveSession, partsOf, type Reader, type SeenEvent } from './sessions-support.ts';

const call = (id: string, name: string, args: unknown = {}): ToolCall => ({ id, name, args });

const usage = (total: number): Usage => ({ ...zeroUsage(), total_tokens: total });

/** A registry with one tool that waits at a gate, whatever its signal says. */
const gated = (gate: Gate): ToolRegistry =>
  new FakeToolRegistry({ wait: async () => gate.wait().then(() => 'waited') });

const gatedParts = (gate: Gate, ...replies: string[]): LiveSessionParts =>
  partsOf(new ScriptedLlm([callTools(call('a', 'wait')), ...replies.map(say)]), {
    tools: () => gated(gate),
  });

const isName =
  (name: string) =>
  (event: SeenEvent): boolean =>
    event.name === name;

describe('a turn', () => {
  test('is published from its start to how it ended, in order', async () => {
    const scripts = [[think('hm'), done('I look.', call('a', 'x'))], say('Done.')];
    const tools = (): ToolRegistry => new FakeToolRegistry({ x: () => 'found' });
    const { session, reader, rows } = await liveSession(
      partsOf(new ScriptedLlm(scripts), { tools, now: () => 7 }),
    );
    const turn = session.startTurn('Look there.');
    expect(turn).toBe('turn-0');
    const reply = { text: '', thinking: '' };
    const waiting: string[] = [];
    const running = { turn: 'turn-0', input: 'Look there.', started_ms: 7, step: 0, reply, waiting };
    expect(session.running()).toEqual(running);
    const end = await reader.end(turn);
    expect(session.running()).toBeNull();
    const words = ['start', 'thinking', 'done', 'tool', 'tool_result', 'text', 'done', 'turn_end'];
    expect(reader.words()).toEqual([...words, 'completed']);
    expect(reader.events[0]).toEqual({
      name: 'status',
      turn,
      payload: { phase: 'start', turn, input: 'Look there.' },
    });
    expect(end).toEqual({
      name: 'status',
      turn: null,
      payload: {
        phase: 'completed',
        turn,
        steps: 2,
        milliseconds: 0,
        usage: zeroUsage(),
        total: zeroUsage(),
        undelivered: [],
      },
    });
    const between = reader.events.slice(1, -1);
    expect(between.every((event) => event.turn === turn)).toBe(true);
    assertLogValid(rows());
    expect(rows()[1]).toEqual({ type: 'user_message', text: 'Look there.' });
  });

  test('another one can start when it is over, with the next id and what all cost', async () => {
    const costs = (n: number): { kind: 'usage'; usage: Usage } => ({ kind: 'usage', usage: usage(n) });
    const llm = new ScriptedLlm([[costs(3), ...say('one')], [costs(4), ...say('two')]]);
    const { session, reader } = await liveSession(partsOf(llm));
    await reader.end(session.startTurn('first'));
    const end = await reader.end(session.startTurn('second'));
    expect(end.payload).toMatchObject({ turn: 'turn-1', usage: usage(4), total: usage(7) });
    expect(llm.requests[1]?.messages).toHaveLength(3);
  });

  test('may be started by who hears of the end of the one before', async () => {
    const { session, reader } = await liveSession(
      partsOf(new ScriptedLlm([say('one'), say('two')])),
    );
    const started = reader.status('completed').then(() => session.startTurn('second'));
    session.startTurn('first');
    expect((await reader.end(await started)).payload['phase']).toBe('completed');
  });

  test('is the only one: another is refused as busy, with what runs', async () => {
    const gate = new Gate();
    const { session, reader } = await liveSession(gatedParts(gate, 'Done.'));
    const turn = session.startTurn('first');
    await reader.until(isName('tool'));
    const refused = await codeOf(() => session.startTurn('second'));
    expect(refused).toBe('busy');
    expect(() => session.startTurn('second')).toThrow(
      /^turn-0 runs in session a-session since \d{4}-.*Z$/,
    );
    expect(session.running()).toMatchObject({ turn, step: 1 });
    gate.open();
    expect((await reader.end(turn)).payload['phase']).toBe('completed');
  });

  test('that fails says why', async () => {
    const { session, reader } = await liveSession(partsOf(failingLlm(new Error('no such key'))));
    const end = await reader.end(session.startTurn('hi'));
    expect(end.payload).toMatchObject({ phase: 'error', error: 'generate: no such key' });
    const diagnostic = await reader.status('diagnostic');
    expect(diagnostic.payload).toMatchObject({ kind: 'model_failed' });
    expect(diagnostic.payload['message']).toContain('no such key');
    expect(session.broken).toBeNull();
  });

  test('that reaches its limit of steps says so', async () => {
    const llm = new ScriptedLlm([callTools(call('a', 'x'))]);
    const { session, reader } = await liveSession(partsOf(llm, { config: { max_steps: 1 } }));
    const end = await reader.end(session.startTurn('hi'));
    expect(end.payload).toMatchObject({ phase: 'step_limit' });
    expect(end.payload).not.toHaveProperty('error');
  });

  test('needs words', async () => {
    const { session, reader } = await liveSession(partsOf(new ScriptedLlm([])));
    for (const text of ['', ' \n\t']) {
      expect(await codeOf(() => session.startTurn(text))).toBe('invalid');
    }
    expect(() => session.startTurn(3 as never)).toThrow(new TypeError('input: expected a text, got 3'));
    expect(session.running()).toBeNull();
    expect(reader.events).toEqual([]);
  });
});

describe('steering', () => {
  test('what is said while a tool runs is read before the next step', async () => {
    const gate = new Gate();
    const { session, reader, rows } = await liveSession(gatedParts(gate, 'As you like.'));
    const turn = session.startTurn('go');
    await reader.until(isName('tool'));
    session.steer('rather left');
    session.steer('and slowly');
    expect(session.running()?.waiting).toEqual(['rather left', 'and slowly']);
    gate.open();
    const end = await reader.end(turn);
    expect(end.payload).toMatchObject({ phase: 'completed', undelivered: [] });
    expect(rows().filter(({ type }) => type === 'user_message')).toEqual([
      { type: 'user_message', text: 'go' },
      { type: 'user_message', text: 'rather left' },
      { type: 'user_message', text: 'and slowly' },
    ]);
    const told = reader.events.filter(({ payload }) => String(payload['phase']).startsWith('steer'));
    expect(told.map(({ turn: of, payload }) => [of, payload])).toEqual([
      [turn, { phase: 'steer', input: 'rather left', waiting: 1 }],
      [turn, { phase: 'steer', input: 'and slowly', waiting: 2 }],
      [turn, { phase: 'steered', inputs: ['rather left', 'and slowly'] }],
    ]);
    assertLogValid(rows());
  });

  test('what is said during the last reply keeps the turn going', async () => {
    const parts: { session?: LiveSession } = {};
    const llm = new ScriptedLlm([
      [() => { parts.session?.steer('one more'); }, ...say('Done.')],
      say('That too.'),
    ]);
    const { session, reader } = await liveSession(partsOf(llm));
    parts.session = session;
    const end = await reader.end(session.startTurn('go'));
    expect(end.payload).toMatchObject({ phase: 'completed', steps: 2, undelivered: [] });
  });

  test('what a turn did not take is given back', async () => {
    const gate = new Gate();
    const { session, reader, rows } = await liveSession(gatedParts(gate));
    const turn = session.startTurn('go');
    await reader.until(isName('tool'));
    session.steer('too late');
    session.cancel();
    const end = await reader.end(turn);
    expect(end.payload).toMatchObject({ phase: 'cancelled', undelivered: ['too late'] });
    expect(rows().filter(({ type }) => type === 'user_message')).toHaveLength(1);
    gate.open();
  });

  test('what is said when the last event of a turn was told belongs to none, and is given back', async () => {
    const { session, reader } = await liveSession(partsOf(new ScriptedLlm([say('Done.')])));
    const turn = session.startTurn('go');
    await reader.until(isName('turn_end'));
    session.steer('too late');
    expect((await reader.status('steer')).turn).toBeNull();
    expect((await reader.end(turn)).payload).toMatchObject({ undelivered: ['too late'] });
  });

  test('needs a turn that runs, and words', async () => {
    const gate = new Gate();
    const { session, reader } = await liveSession(gatedParts(gate, 'Done.'));
    expect(await codeOf(() => { session.steer('hi'); })).toBe('idle');
    const turn = session.startTurn('go');
    expect(await codeOf(() => { session.steer(' '); })).toBe('invalid');
    expect(() => { session.steer(null as never); }).toThrow('input: expected a text, got null');
    gate.open();
    await reader.end(turn);
    expect(await codeOf(() => { session.steer('hi'); })).toBe('idle');
  });
});

describe('cancelling', () => {
  test('ends a turn whose tool does not listen, and says why', async () => {
    const gate = new Gate();
    const { session, reader, rows } = await liveSession(gatedParts(gate, 'Next.'));
    const turn = session.startTurn('go');
    await reader.until(isName('tool'));
    session.cancel('not that');
    session.cancel('a second reason');
    const end = await reader.end(turn);
    expect(end.payload).toMatchObject({ phase: 'cancelled', reason: 'not that' });
    assertLogValid(rows());
    expect(rows().at(-1)).toEqual({ type: 'turn_end', id: turn, outcome: 'cancelled' });
    gate.open();
  });

  test('ends a turn whose model hangs, without a reason', async () => {
    const { session, reader } = await liveSession(
      partsOf(new HangingLlm([{ kind: 'text', text: 'I am' }])),
    );
    const turn = session.startTurn('go');
    await reader.until(isName('text'));
    session.cancel();
    const end = await reader.end(turn);
    expect(end.payload).toMatchObject({ phase: 'cancelled' });
    expect(end.payload).not.toHaveProperty('reason');
  });

  test('needs a turn that runs, and a reason that is a text', async () => {
    const { session } = await liveSession(partsOf(new ScriptedLlm([])));
    expect(await codeOf(() => { session.cancel(); })).toBe('idle');
    expect(() => { session.cancel(1 as never); }).toThrow('reason: expected a text, got 1');
  });
});

describe('approvals', () => {
  /** A registry whose tool asks before it runs. */
  const asking =
    (ran: unknown[]) =>
    (desk: LiveSession['approvals']): ToolRegistry => {
      const registry = new DefaultToolRegistry({ findApproval: () => desk });
      const parameters = { type: 'object' };
      const execute = (args: unknown): string => {
        ran.push(args);
        return 'ran';
      };
      registry.register(defineTool({ name: 'risky', description: 'risky', parameters, execute }));
      registry.addGuard(askBefore(['risky'], 'it is risky'));
      return registry;
    };

  const asked = async (): Promise<{
    session: LiveSession;
    reader: Reader;
    ran: unknown[];
    turn: string;
    question: string;
    llm: ScriptedLlm;
  }> => {
    const ran: unknown[] = [];
    const llm = new ScriptedLlm([callTools(call('a', 'risky', { n: 1 })), say('Done.')]);
    const { session, reader } = await liveSession(partsOf(llm, { tools: asking(ran) }));
    const turn = session.startTurn('go');
    const { payload, turn: of } = await reader.until(isName('question'));
    expect(of).toBe(turn);
    expect(payload).toMatchObject({ call_id: 'a', tool: 'risky', args: { n: 1 }, reason: 'it is risky' });
    expect(ran).toEqual([]);
    return { session, reader, ran, turn, question: String(payload['id']), llm };
  };

  test('a call that is allowed runs', async () => {
    const { session, reader, ran, turn, question } = await asked();
    session.approvals.allow(question);
    expect((await reader.end(turn)).payload['phase']).toBe('completed');
    expect(ran).toEqual([{ n: 1 }]);
    const result = await reader.until(isName('tool_result'));
    expect(result.payload).toMatchObject({ ok: true, value: 'ran' });
  });

  test('a call that is denied does not run, and the model is told why', async () => {
    const { session, reader, ran, turn, question, llm } = await asked();
    session.approvals.deny(question, 'not on a Friday');
    expect((await reader.end(turn)).payload['phase']).toBe('completed');
    expect(ran).toEqual([]);
    expect(JSON.stringify(llm.requests[1]?.messages)).toContain('not on a Friday');
  });

  test('a question that heard of no cancel is taken back when its turn is over', async () => {
    const request = { call_id: 'a', name: 'x', args: {}, reason: 'it asks itself' };
    const tools = (desk: LiveSession['approvals']): ToolRegistry =>
      new FakeToolRegistry({ x: () => desk.decide(request) });
    const llm = new ScriptedLlm([callTools(call('a', 'x'))]);
    const { session, reader } = await liveSession(partsOf(llm, { tools }));
    const turn = session.startTurn('go');
    await reader.until(isName('question'));
    session.cancel();
    await reader.end(turn);
    expect(session.approvals.list()).toEqual([]);
    expect((await reader.status('approval')).turn).toBeNull();
  });

  test('a question of a turn that is cancelled is taken back before the turn ends', async () => {
    const { session, reader, ran, turn, question } = await asked();
    session.cancel();
    expect((await reader.end(turn)).payload['phase']).toBe('cancelled');
    expect(await codeOf(() => { session.approvals.allow(question); })).toBe('gone');
    expect(ran).toEqual([]);
    const words = reader.words();
    expect(words.indexOf('approval')).toBeLessThan(words.indexOf('turn_end'));
    expect((await reader.status('approval')).payload).toMatchObject({
      id: question,
      decision: 'withdrawn',
    });
  });
});
