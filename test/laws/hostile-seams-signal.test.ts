import { getEventListeners } from 'node:events';

import { describe, expect, test } from 'vitest';

import { createAgentLoop } from '@celestea/agent-loop';
import { assertLogValid, FakeSessionLog, HangingLlm, testContext } from '@celestea/agent-loop/testing';
import { defaultAgentConfig, type Llm, type TurnOutcome } from '@celestea/core';

import { quiet, settled, type Settled } from '../support/turn.ts';
import { FAULTS, JUNK, passedOffAs } from './hostile-behaviours.ts';
import { watched } from './hostile-drive.ts';
import { World } from './hostile-world.ts';

/** What is read of a signal, and nothing else of one. */
class LookAlike {
  aborted = false;
  reason: unknown = undefined;
  readonly listeners = new Set<() => void>();

  addEventListener(_: string, listener: () => void): void {
    this.listeners.add(listener);
  }

  removeEventListener(_: string, listener: () => void): void {
    this.listeners.delete(listener);
  }

  abort(): void {
    this.aborted = true;
    for (const listener of [...this.listeners]) listener();
  }
}

/** A signal that throws where the name says. */
function breaking(member: keyof LookAlike, fault: unknown): LookAlike {
  const refuse = (): never => {
    throw fault;
  };
  const isMethod = member === 'addEventListener' || member === 'removeEventListener';
  return Object.defineProperty(
    new LookAlike(),
    member,
    isMethod ? { value: refuse } : { get: refuse },
  );
}

/** Runs a turn under its signal, the last one given, and that of its loop; `meanwhile` runs while its model hangs. */
async function runUnder(
  signals: readonly unknown[],
  meanwhile: () => void = () => undefined,
  llm: Llm = new HangingLlm(),
): Promise<{ end: Settled; log: FakeSessionLog }> {
  const log = new FakeSessionLog();
  const [own, bound] = signals.map((signal) => passedOffAs<AbortSignal>(signal)).reverse();
  const loop = createAgentLoop(defaultAgentConfig(), { signal: bound });
  const end = await watched(async () => {
    const run = settled(loop.runTurnOutcome(testContext({ llm, log }), 'go', { signal: own }));
    await quiet();
    meanwhile();
    return run;
  });
  assertLogValid(log.rows);
  return { end, log };
}

const odd = JUNK.map(([name, reason]) => ({ name, reason }));
const faults = FAULTS.map(([name, fault]) => ({ name, fault }));
const cancelled: Settled = { resolved: 'cancelled' satisfies TurnOutcome };

describe('X2 a signal with an odd reason', () => {
  test.each(odd)('X2 $name, before the turn and while it runs', async ({ reason }) => {
    for (const early of [true, false]) {
      const controller = new AbortController();
      let handed: AbortSignal | undefined;
      const llm: Llm = {
        generate: (_, options) => {
          handed = options?.signal;
          return new Promise(() => undefined);
        },
      };
      if (early) controller.abort(reason);
      const abort = (): void => {
        controller.abort(reason);
      };
      const { end, log } = await runUnder([controller.signal], abort, llm);
      expect(end).toEqual(cancelled);
      expect(log.rows.map(({ type }) => type)).toEqual(['turn_start', 'user_message', 'turn_end']);
      expect(handed === undefined).toBe(early);
      if (early) continue;
      expect(Object.is(handed?.reason, controller.signal.reason), 'the very reason').toBe(true);
    }
  });
});

describe('X1 a signal that only looks like one', () => {
  test('X1 it cancels as a real one does, and keeps no listener', async () => {
    const signal = new LookAlike();
    const { end } = await runUnder([signal], () => {
      signal.abort();
    });
    expect(end).toEqual(cancelled);
    expect(signal.listeners.size).toBe(0);
  });

  test('X1 one that has fired cancels at once', async () => {
    const signal = Object.assign(new LookAlike(), { aborted: true });
    expect((await runUnder([signal])).end).toEqual(cancelled);
    expect(signal.listeners.size).toBe(0);
  });

  test('X2 one that does not let go of its listener disturbs nothing once the turn is over', async () => {
    const signal = new LookAlike();
    signal.removeEventListener = () => undefined;
    const { log } = await runUnder([signal], () => {
      signal.abort();
    });
    const rows = log.rows.length;
    signal.abort();
    await quiet();
    expect(log.rows).toHaveLength(rows);
  });

  test.each(odd.filter(({ name }) => name !== 'a boolean'))(
    'X1 aborted is $name: refused',
    async ({ reason }) => {
      const { end, log } = await runUnder([Object.assign(new LookAlike(), { aborted: reason })]);
      expect(end).toEqual({ error: expect.any(TypeError) as unknown });
      expect(log.rows).toEqual([]);
    },
  );

  test.each(
    (['aborted', 'addEventListener'] as const).flatMap((member) =>
      faults.map((fault) => ({ member, ...fault })),
    ),
  )('X1 $member throws $name: the turn does not start', async ({ member, fault }) => {
    const { end, log } = await runUnder([breaking(member, fault)]);
    expect('error' in end && Object.is(end.error, fault)).toBe(true);
    expect(log.rows).toEqual([]);
    const loop = createAgentLoop(defaultAgentConfig());
    const stream = loop.streamTurn(testContext({ llm: new HangingLlm(), log }), 'go');
    stream.cancel(); // the log was let go
    expect(await stream.outcome).toBe('cancelled');
  });

  test('L6.4 one that takes no listener leaves none on the other', async () => {
    const { signal } = new AbortController();
    await runUnder([signal, breaking('addEventListener', new Error('no listeners'))]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('X2 one whose reason cannot be read cancels all the same', async () => {
    const signal = breaking('reason', new Error('no reason'));
    const { end } = await runUnder([signal], () => {
      signal.abort();
    });
    expect(end).toEqual(cancelled);
  });

  test('X1 one that cannot let go of a listener spoils no outcome', async () => {
    const world = new World();
    const signal = breaking('removeEventListener', new Error('stuck'));
    world.given.set('turn options', { ...world.options(), signal });
    expect(await settled(world.run())).toEqual({ resolved: 'completed' });
    assertLogValid(world.log.rows);
  });
});
