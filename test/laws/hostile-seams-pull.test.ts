import { describe, expect, test } from 'vitest';

import { createAgentLoop, type TurnStream } from '@celestea/agent-loop';
import {
  assertLogValid,
  FakeSessionLog,
  Gate,
  HangingLlm,
  say,
  ScriptedLlm,
  testContext,
  think,
} from '@celestea/agent-loop/testing';
import { AgentError, defaultAgentConfig, type Llm, type LoopEvent } from '@celestea/core';

import { quiet, settled } from '../support/turn.ts';
import { FAULTS, JUNK } from './hostile-behaviours.ts';
import { watched } from './hostile-drive.ts';

const END = { done: true, value: undefined };
const KINDS = ['text', 'done', 'turn_end'];

const speaking = (): Llm => new ScriptedLlm([say('noon'), say('noon')]);
const hanging = (): Llm => new HangingLlm([think('hm')]);

interface Pulled {
  readonly stream: TurnStream;
  readonly iterator: AsyncIterator<LoopEvent, undefined>;
  readonly log: FakeSessionLog;
}

function pull(llm: Llm, log: FakeSessionLog = new FakeSessionLog()): Pulled {
  const stream = createAgentLoop(defaultAgentConfig()).streamTurn(testContext({ llm, log }), 'go');
  return { stream, iterator: stream[Symbol.asyncIterator](), log };
}

/** Reads on to the end, by hand. */
async function rest({ iterator }: Pulled): Promise<string[]> {
  const kinds: string[] = [];
  for (;;) {
    const { done, value } = await iterator.next();
    if (done === true) return kinds;
    kinds.push(value.kind);
  }
}

/** What a reader does to its stream, and how the turn ends that it does it to. */
const READERS: readonly {
  readonly name: string;
  readonly llm: () => Llm;
  readonly read: (pulled: Pulled) => Promise<void>;
  readonly outcome: 'completed' | 'cancelled';
}[] = [
  {
    name: 'reads on after the end',
    llm: speaking,
    outcome: 'completed',
    read: async (pulled) => {
      expect(await rest(pulled)).toEqual(KINDS);
      for (let more = 0; more < 3; more += 1) expect(await pulled.iterator.next()).toEqual(END);
    },
  },
  {
    name: 'asks twice at once',
    llm: speaking,
    outcome: 'completed',
    read: async (pulled) => {
      const { iterator } = pulled;
      const both = await Promise.all([iterator.next(), iterator.next()]);
      expect(both.map(({ value }) => value?.kind)).toEqual(['text', 'done']);
      expect(await rest(pulled)).toEqual(['turn_end']);
    },
  },
  {
    name: 'asks for a thousand at once',
    llm: speaking,
    outcome: 'completed',
    read: async ({ iterator }) => {
      const all = await Promise.all(Array.from({ length: 1000 }, () => iterator.next()));
      expect(all.filter(({ done }) => done !== true)).toHaveLength(3);
    },
  },
  {
    name: 'returns before it reads',
    llm: hanging,
    outcome: 'cancelled',
    read: async ({ iterator }) => {
      expect(await iterator.return?.()).toEqual(END);
      expect(await iterator.next()).toEqual(END);
    },
  },
  {
    name: 'returns twice, at once and again',
    llm: hanging,
    outcome: 'cancelled',
    read: async ({ iterator }) => {
      await iterator.next();
      const both = await Promise.all([iterator.return?.(), iterator.return?.()]);
      expect(both).toEqual([END, END]);
      expect(await iterator.return?.()).toEqual(END);
    },
  },
  {
    name: 'returns while it waits for the next',
    llm: hanging,
    outcome: 'cancelled',
    read: async ({ iterator }) => {
      await iterator.next();
      const waiting = iterator.next();
      await iterator.return?.();
      expect(await waiting).toMatchObject({ value: { kind: 'turn_end' } });
      expect(await iterator.next()).toEqual(END);
    },
  },
  {
    name: 'returns after the end',
    llm: speaking,
    outcome: 'completed',
    read: async (pulled) => {
      await rest(pulled);
      expect(await pulled.iterator.return?.()).toEqual(END);
    },
  },
  {
    name: 'would throw into it: there is no such method, as none has to be',
    llm: speaking,
    outcome: 'completed',
    read: async (pulled) => {
      expect('throw' in pulled.iterator).toBe(false);
      await rest(pulled);
    },
  },
  {
    name: 'comes a second time',
    llm: speaking,
    outcome: 'completed',
    read: async (pulled) => {
      expect(() => pulled.stream[Symbol.asyncIterator]()).toThrow(AgentError);
      expect(await rest(pulled)).toEqual(KINDS);
    },
  },
];

describe('X5 whatever its reader does', () => {
  test.each(READERS)('X5 it $name', async ({ llm, read, outcome }) => {
    const pulled = pull(llm());
    await watched(() => read(pulled));
    expect(await pulled.stream.outcome).toBe(outcome);
    assertLogValid(pulled.log.rows);
    expect(await pull(speaking(), pulled.log).stream.outcome).toBe('completed');
    assertLogValid(pulled.log.rows);
  });

  test.each(JUNK.map(([name, reason]) => ({ name, reason })))(
    'X5 cancel with $name as its reason',
    async ({ reason }) => {
      const pulled = pull(hanging());
      await pulled.iterator.next();
      pulled.stream.cancel(reason);
      pulled.stream.cancel();
      expect(await rest(pulled)).toEqual(['turn_end']);
      expect(await pulled.stream.outcome).toBe('cancelled');
      assertLogValid(pulled.log.rows);
    },
  );

  test.each(FAULTS.map(([name, fault]) => ({ name, fault })))(
    'X5 L2.7 a log that throws $name: after turn_end the iteration throws it, once',
    async ({ fault }) => {
      let failed = false;
      const onAppend = ({ type }: { type: string }): void => {
        if (type !== 'assistant_message' || failed) return;
        failed = true;
        throw fault;
      };
      const pulled = pull(speaking(), new FakeSessionLog({ onAppend }));
      const end = await watched(() => settled(rest(pulled)));
      expect('error' in end && Object.is(end.error, fault)).toBe(true);
      expect(await pulled.iterator.next()).toEqual(END);
      const outcome = await settled(pulled.stream.outcome);
      expect('error' in outcome && Object.is(outcome.error, fault)).toBe(true);
      assertLogValid(pulled.log.rows);
    },
  );

  test('X4 X5 return waits for a flush that does not settle, and for nothing else', async () => {
    const gate = new Gate();
    const pulled = pull(hanging(), new FakeSessionLog({ onFlush: () => gate.wait() }));
    let left = false;
    const leaving = pulled.iterator.return?.().then(() => {
      left = true;
    });
    await quiet();
    expect(left).toBe(false);
    gate.open();
    await leaving;
    expect(await pulled.stream.outcome).toBe('cancelled');
    assertLogValid(pulled.log.rows);
  });
});
