import { describe, expect, test } from 'vitest';

import { createAgentLoop, type Diagnostic } from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
} from '@celestea/agent-loop/testing';
import { defaultAgentConfig, type InjectionSource } from '@celestea/core';

import { call, Mailbox, quiet } from './support/turn.ts';

/** A turn with a tool step and a reply, steered by a source that breaks its contract. */
async function steeredBy(source: { drain: () => unknown; pending?: unknown }) {
  const log = new FakeSessionLog();
  const llm = new ScriptedLlm([callTools(call('a')), say('Done.'), say('More.')]);
  const tools = new FakeToolRegistry({ echo: (args) => args });
  const diagnostics: Diagnostic[] = [];
  const loop = createAgentLoop(defaultAgentConfig(), {
    injections: source as InjectionSource,
    onDiagnostic: (diagnostic) => void diagnostics.push(diagnostic),
  });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
  await quiet();
  assertLogValid(log.rows);
  expect(outcome).toBe('completed');
  const texts = log.rows.flatMap((row) => (row.type === 'user_message' ? [row.text] : []));
  return { texts: texts.slice(1), diagnostics, requests: llm.requests.length };
}

const once = (items: unknown): (() => unknown) => {
  const left = [items];
  return () => left.pop() ?? [];
};

describe('X6 X15 a source of injections that fails', () => {
  test('X6 X15 a drain that throws is reported each time, and the turn goes on', async () => {
    const error = new Error('no mail');
    const { texts, diagnostics } = await steeredBy({
      drain: () => {
        throw error;
      },
    });
    expect(texts).toEqual([]);
    const fault = {
      kind: 'injections_failed',
      message: 'the injections could not be drained',
      error,
    };
    expect(diagnostics).toEqual([fault, fault]);
  });

  test.each(['resolves', 'rejects'])('X6 X15 a drain that %s is no source', async (how) => {
    const { texts, diagnostics } = await steeredBy({
      drain: async () => {
        await quiet(1);
        if (how === 'rejects') throw new Error('no mail');
        return [];
      },
    });
    expect(texts).toEqual([]);
    const message = 'drain of the injections: expected an array, got a promise';
    const fault = {
      kind: 'injections_failed',
      message: 'the injections could not be drained',
      error: new TypeError(message),
    };
    expect(diagnostics).toEqual([fault, fault]);
  });

  test.each([
    ['null', null],
    ['undefined', undefined],
    ['an empty list', []],
  ])('X6 a drain that gives %s gives nothing', async (_, given) => {
    const { texts, diagnostics } = await steeredBy({ drain: () => given });
    expect(texts).toEqual([]);
    expect(diagnostics).toEqual([]);
  });

  test.each([
    ['a number', 7],
    ['an object', { text: 'hi', from: '' }],
  ])('X6 X15 a drain that gives %s is reported', async (_, given) => {
    const { texts, diagnostics } = await steeredBy({ drain: once(given) });
    expect(texts).toEqual([]);
    expect(diagnostics.map(({ kind }) => kind)).toEqual(['injections_failed']);
  });

  test('X6 X15 malformed items are dropped and named, the others are written', async () => {
    const { texts, diagnostics } = await steeredBy({
      drain: once([
        { text: 'one', from: '' },
        null,
        undefined,
        'two',
        { from: 'Ann' },
        { text: 3, from: 'Ann' },
        { text: 'four', from: 4 },
        { text: 'five' },
        { text: '', from: '' },
        { text: 'six', from: 'Bob' },
      ]),
    });
    expect(texts).toEqual(['one', 'four', 'five', '', '[from Bob] six']);
    const dropped = (came: string) => `an injection without a text was dropped: ${came}`;
    expect(diagnostics.map(({ message }) => message)).toEqual([
      dropped('null'),
      dropped('undefined'),
      dropped('"two"'),
      dropped('an object'),
      dropped('an object'),
    ]);
    expect(new Set(diagnostics.map(({ kind }) => kind))).toEqual(new Set(['injections_failed']));
  });
});

describe('X6 a pending() that lies', () => {
  test.each([1, 8, 1e9, Infinity])('X6 says %d, nothing comes: the turn ends', async (count) => {
    const { requests } = await steeredBy({ drain: () => [], pending: () => count });
    expect(requests).toBe(2);
  });

  test('X6 says 1, but what comes is malformed: the turn ends', async () => {
    let asked = false;
    const { requests, diagnostics } = await steeredBy({
      drain: () => (asked ? [null] : []),
      pending: () => {
        asked = true;
        return 1;
      },
    });
    expect(requests).toBe(2);
    expect(diagnostics).toHaveLength(1);
  });

  test.each([0, -1, NaN, null, undefined, 'many', {}])('X6 says %j: none waits', async (said) => {
    const { requests } = await steeredBy({ drain: () => [], pending: () => said });
    expect(requests).toBe(2);
  });

  test('X6 X15 throws: it is reported, and the turn ends', async () => {
    const error = new Error('no count');
    const { requests, diagnostics } = await steeredBy({
      drain: () => [],
      pending: () => {
        throw error;
      },
    });
    expect(requests).toBe(2);
    expect(diagnostics).toEqual([
      { kind: 'injections_failed', message: 'the injections could not be counted', error },
    ]);
  });

  test('X6 X15 throws while a message waits: it stays in the source', async () => {
    const mail = new Mailbox();
    const { requests, texts } = await steeredBy({
      drain: () => mail.drain(),
      pending: () => {
        mail.post('late');
        throw new Error('no count');
      },
    });
    expect(requests).toBe(2);
    expect(texts).toEqual([]);
    expect(mail.waiting).toHaveLength(1);
  });

  test('X6 rejects: nothing goes unhandled, and the turn ends', async () => {
    const { requests } = await steeredBy({
      drain: () => [],
      pending: () => Promise.reject(new Error('no count')),
    });
    expect(requests).toBe(2);
  });

  test('X6 says 0 while something waits: it stays for the next step', async () => {
    const { requests, texts } = await steeredBy({
      drain: once([{ text: 'hi', from: '' }]),
      pending: () => 0,
    });
    expect(requests).toBe(2);
    expect(texts).toEqual(['hi']);
  });
});
