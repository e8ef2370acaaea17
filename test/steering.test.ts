import { describe, expect, test } from 'vitest';

import {
  createAgentLoop,
  MAX_STEER_EXTENSIONS,
  type AgentLoopBindings,
  type Diagnostic,
} from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  done,
  failingLlm,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  type Script,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  messageTexts,
  type InjectionSource,
  type Llm,
  type PendingInjection,
  type SessionEvent,
} from '@celestea/core';

import { Cancellation } from '../src/cancel.ts';
import { resolveOptions } from '../src/options.ts';
import { resolveSeams } from '../src/seams.ts';
import { Steering } from '../src/steering.ts';
import { Turn } from '../src/turn.ts';
import { call, Mailbox, quiet, settled } from './support/turn.ts';

interface Play extends AgentLoopBindings {
  llm?: Llm;
  scripts?: Script[];
  log?: FakeSessionLog;
  maxSteps?: number;
  echo?: () => unknown;
}

async function play({ llm, scripts = [], log, maxSteps = 16, echo, ...bindings }: Play) {
  const rows = log ?? new FakeSessionLog();
  const model = llm ?? new ScriptedLlm(scripts);
  const tools = new FakeToolRegistry({ echo: echo ?? ((args) => args) });
  const diagnostics: Diagnostic[] = [];
  const onDiagnostic = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic);
  const loop = createAgentLoop(defaultAgentConfig({ max_steps: maxSteps }), {
    onDiagnostic,
    ...bindings,
  });
  const outcome = await loop.runTurnOutcome(testContext({ llm: model, log: rows, tools }), 'go');
  await quiet();
  assertLogValid(rows.rows);
  return { outcome, rows: rows.rows, diagnostics };
}

/** The rows in short: types, and texts of user messages. */
const brief = (rows: readonly SessionEvent[]): string[] =>
  rows.map((row) => (row.type === 'user_message' ? `user ${row.text}` : row.type));

/** What a model was shown last. */
const lastTexts = (llm: ScriptedLlm, request: number): string[] =>
  (llm.requests[request]?.messages ?? []).flatMap(messageTexts);

const oneTool = [callTools(call('a')), say('Done.')];

describe('X6 a message that comes in', () => {
  test('X6 before the first request is in it, after the input', async () => {
    const mail = new Mailbox();
    mail.post('hurry', 'Ann');
    mail.post('please');
    const llm = new ScriptedLlm([say('Done.')]);
    const { outcome, rows } = await play({ llm, injections: mail });
    expect(outcome).toBe('completed');
    expect(brief(rows)).toEqual([
      ...['turn_start', 'user go', 'user [from Ann] hurry', 'user please'],
      ...['assistant_message', 'turn_end'],
    ]);
    expect(lastTexts(llm, 0)).toEqual(['go', '[from Ann] hurry', 'please']);
    expect(rows[2]).toEqual({ type: 'user_message', text: '[from Ann] hurry' });
  });

  test.each<[name: string, when: (post: () => void) => Play]>([
    ['mid-stream', (post) => ({ scripts: [[post, ...(oneTool[0] ?? [])], say('x')] })],
    ['in a tool', (post) => ({ scripts: oneTool, echo: post })],
  ])('X6 %s is in the next request, after the results', async (_, when) => {
    const mail = new Mailbox();
    const { outcome, rows } = await play({
      ...when(() => {
        mail.post('hurry');
      }),
      injections: mail,
    });
    expect(outcome).toBe('completed');
    expect(brief(rows)).toEqual([
      ...['turn_start', 'user go', 'tool_call', 'tool_result', 'user hurry'],
      ...['assistant_message', 'turn_end'],
    ]);
    expect(mail.waiting).toEqual([]);
  });

  test('X6 at the last done event keeps the turn going', async () => {
    const mail = new Mailbox();
    const llm = new ScriptedLlm([say('one'), say('two')]);
    const { outcome, rows } = await play({
      llm,
      injections: mail,
      sink: (event) => {
        if (event.kind === 'done' && event.text === 'one') mail.post('wait');
      },
    });
    expect(outcome).toBe('completed');
    expect(brief(rows)).toEqual([
      ...['turn_start', 'user go', 'assistant_message', 'user wait', 'assistant_message'],
      'turn_end',
    ]);
    expect(lastTexts(llm, 1)).toEqual(['go', 'one', 'wait']);
  });

  test('X6 in the extended turn a tool may run, and messages may come again', async () => {
    const mail = new Mailbox();
    const { outcome, rows } = await play({
      scripts: [say('one'), callTools(call('a')), say('two'), say('three')],
      injections: mail,
      sink: (event) => {
        if (event.kind === 'done' && event.text === 'one') mail.post('first');
        if (event.kind === 'done' && event.text === 'two') mail.post('second');
      },
    });
    expect(outcome).toBe('completed');
    expect(brief(rows)).toEqual([
      ...['turn_start', 'user go', 'assistant_message', 'user first', 'tool_call', 'tool_result'],
      ...['assistant_message', 'user second', 'assistant_message', 'turn_end'],
    ]);
  });

  test('X6 after the turn_end stays in the source', async () => {
    const mail = new Mailbox();
    const { rows } = await play({
      scripts: [say('one')],
      injections: mail,
      sink: ({ kind }) => {
        if (kind === 'turn_end') mail.post('late');
      },
    });
    expect(brief(rows)).not.toContain('user late');
    expect(mail.waiting).toEqual([{ text: 'late', from: '' }]);
  });

  test('X6 without a pending() is drained at step boundaries, and extends nothing', async () => {
    const mail = new Mailbox();
    const { outcome, rows } = await play({
      scripts: [callTools(call('a')), say('one')],
      injections: { drain: () => mail.drain() },
      sink: ({ kind }) => {
        if (kind === 'done') mail.post('more');
      },
    });
    expect(outcome).toBe('completed');
    expect(brief(rows).filter((row) => row === 'user more')).toHaveLength(1);
    expect(mail.waiting).toHaveLength(1);
  });
});

test.each([0, 1, 2, 3])('X6 a drain says how many of %i it wrote', (count) => {
  const mail = new Mailbox();
  for (let at = 0; at < count; at += 1) mail.post(String(at));
  const log = new FakeSessionLog();
  const seams = resolveSeams(testContext({ llm: new ScriptedLlm([]), log }));
  const options = resolveOptions({ injections: mail }, undefined);
  const cancellation = new Cancellation();
  const config = defaultAgentConfig();
  const steering = new Steering(new Turn('turn-0', config, seams, options, cancellation));
  expect(steering.drain()).toBe(count);
  expect(log.rows).toHaveLength(count);
});

describe('X6 the limits of an extension', () => {
  test(`X6 it is extended MAX_STEER_EXTENSIONS = 8 times, then the messages wait`, async () => {
    expect(MAX_STEER_EXTENSIONS).toBe(8);
    const mail = new Mailbox();
    const llm = new ScriptedLlm(Array.from({ length: 12 }, () => say('again')));
    const { outcome, rows } = await play({
      llm,
      injections: mail,
      maxSteps: 0,
      sink: ({ kind }) => {
        if (kind === 'done') mail.post('more');
      },
    });
    expect(outcome).toBe('completed');
    expect(llm.requests).toHaveLength(9);
    expect(brief(rows).filter((row) => row === 'user more')).toHaveLength(8);
    expect(mail.waiting).toEqual([{ text: 'more', from: '' }]);
  });

  test('X6 the next turn counts anew and brings what waited', async () => {
    const mail = new Mailbox();
    const log = new FakeSessionLog();
    const scripts = Array.from({ length: 9 }, () => say('again'));
    const sink: AgentLoopBindings['sink'] = ({ kind }) => {
      if (kind === 'done') mail.post('more');
    };
    await play({ scripts, log, injections: mail, sink });
    const llm = new ScriptedLlm(scripts);
    await play({ llm, log, injections: mail, sink });
    expect(llm.requests).toHaveLength(9);
    expect(mail.drained).toHaveLength(17);
    expect(brief(log.rows).filter((row) => row === 'user more')).toHaveLength(17);
  });

  test.each([1, 2, 3])('X6 a spent budget of %i steps ends it completed', async (maxSteps) => {
    const mail = new Mailbox();
    const llm = new ScriptedLlm(Array.from({ length: 5 }, () => say('again')));
    const { outcome, rows } = await play({
      llm,
      injections: mail,
      maxSteps,
      sink: ({ kind }) => {
        if (kind === 'done') mail.post('more');
      },
    });
    expect(outcome).toBe('completed');
    expect(llm.requests).toHaveLength(maxSteps);
    expect(brief(rows).filter((row) => row === 'user more')).toHaveLength(maxSteps - 1);
    expect(mail.waiting).toHaveLength(1);
  });

  test('X6 at the step limit messages stay in the source', async () => {
    const mail = new Mailbox();
    const echo = (): void => {
      mail.post('more');
    };
    const { outcome } = await play({ scripts: oneTool, injections: mail, maxSteps: 1, echo });
    expect(outcome).toBe('step_limit');
    expect(mail.waiting).toHaveLength(1);
    expect(mail.drained).toEqual([]);
  });

  test.each<[name: string, play: Play, outcome: unknown]>([
    [
      'a generate that fails',
      { llm: failingLlm(new Error('no')) },
      { error: { kind: 'generate', message: 'no' } },
    ],
    [
      'a stream that fails',
      { scripts: [[done('so'), { kind: 'failed', kindOf: 'stream', message: 'torn' }]] },
      { error: { kind: 'stream', message: 'torn' } },
    ],
    ['an interrupted stream', { scripts: [[{ kind: 'interrupted' }]] }, 'interrupted'],
  ])('X6 %s is never extended', async (_, given, outcome) => {
    const injections: InjectionSource = { drain: () => [], pending: () => 1 };
    const result = await play({ ...given, injections });
    expect(result.outcome).toEqual(outcome);
  });
});

describe('X6 a cancel', () => {
  test('X6 right after a drain: what was drained is in the log', async () => {
    const controller = new AbortController();
    const mail = new Mailbox();
    mail.post('first');
    mail.post('second');
    const llm = new ScriptedLlm([]);
    const drain = (): PendingInjection[] => {
      const items = mail.drain();
      controller.abort();
      return items;
    };
    const { signal } = controller;
    const { outcome, rows } = await play({ llm, signal, injections: { drain } });
    expect(outcome).toBe('cancelled');
    expect(brief(rows)).toEqual(['turn_start', 'user go', 'user first', 'user second', 'turn_end']);
    expect(llm.requests).toEqual([]);
  });

  test('X6 while the first of them is written: the second is written too', async () => {
    const controller = new AbortController();
    const mail = new Mailbox();
    mail.post('first');
    mail.post('second');
    const log = new FakeSessionLog({
      onAppend: (row) => {
        if (row.type === 'user_message' && row.text === 'first') controller.abort();
      },
    });
    const { rows } = await play({ scripts: [], log, signal: controller.signal, injections: mail });
    expect(brief(rows)).toEqual(['turn_start', 'user go', 'user first', 'user second', 'turn_end']);
  });

  test('X6 before a drain: the messages stay in the source, and it is not asked', async () => {
    const mail = new Mailbox();
    mail.post('first');
    const signal = AbortSignal.abort();
    expect((await play({ signal, injections: mail })).outcome).toBe('cancelled');
    expect(mail.asked).toEqual({ drain: 0, pending: 0 });
  });

  test('X6 in a tool: a message that came with it stays in the source', async () => {
    const controller = new AbortController();
    const mail = new Mailbox();
    const { outcome, rows } = await play({
      scripts: oneTool,
      signal: controller.signal,
      injections: mail,
      echo: () => {
        mail.post('stop that');
        controller.abort();
      },
    });
    expect(outcome).toBe('cancelled');
    expect(brief(rows)).toEqual(['turn_start', 'user go', 'tool_call', 'tool_result', 'turn_end']);
    expect(mail.waiting).toEqual([{ text: 'stop that', from: '' }]);
  });

  test('X6 a log that takes one of three messages no more: the others are in it', async () => {
    const mail = new Mailbox();
    for (const text of ['first', 'second', 'third']) mail.post(text);
    const fault = new Error('disk full');
    const log = new FakeSessionLog({
      onAppend: (row) => {
        if (row.type === 'user_message' && row.text === 'second') throw fault;
      },
    });
    const result = await settled(play({ scripts: [], log, injections: mail }));
    expect('error' in result && result.error).toBe(fault);
    const kept = ['user go', 'user first', 'user third'];
    expect(brief(log.rows)).toEqual(['turn_start', ...kept, 'turn_end']);
  });
});
