import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import {
  closeIterator,
  DefaultAgentLoop,
  errorMessage,
  isAborted,
  raceAbort,
} from '@celestea/agent-loop';
import {
  callTools,
  done,
  FakeToolRegistry,
  Gate,
  ScriptedLlm,
  testContext,
} from '@celestea/agent-loop/testing';
import { defaultAgentConfig, type StreamEvent } from '@celestea/core';

import { Cancellation, cancellationOf } from '../src/cancel.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;
const forever = () => new Promise<never>(() => undefined);
const thrower = (value: unknown) => (): never => {
  throw value;
};

describe('raceAbort', () => {
  const error = new Error('no disk');
  const works: { name: string; work: () => unknown; result: unknown }[] = [
    { name: 'a value', work: () => 7, result: { outcome: 'ok', value: 7 } },
    { name: 'undefined', work: () => undefined, result: { outcome: 'ok', value: undefined } },
    { name: 'a promise', work: () => setImmediate('x'), result: { outcome: 'ok', value: 'x' } },
    {
      name: 'a rejection',
      work: () => Promise.reject(error),
      result: { outcome: 'failed', error },
    },
    {
      name: 'a late rejection with undefined',
      work: () => setImmediate().then(thrower(undefined)),
      result: { outcome: 'failed', error: undefined },
    },
    {
      name: 'a thenable that throws',
      work: () => ({ then: thrower(error) }),
      result: { outcome: 'failed', error },
    },
    {
      name: 'a then that cannot be read',
      work: () => Object.defineProperty({}, 'then', { get: thrower(error) }),
      result: { outcome: 'failed', error },
    },
  ];

  test.each(works)('L6.1 $name, with and without a signal', async ({ work, result }) => {
    const { signal } = new AbortController();
    for (const given of [undefined, null, signal]) {
      expect(await raceAbort(given, work())).toStrictEqual(result);
    }
    expect(listeners(signal)).toBe(0);
  });

  test.each(works)('L6.1 $name loses to a signal that has fired', async ({ work }) => {
    const signal = AbortSignal.abort();
    expect(await raceAbort(signal, work())).toStrictEqual({ outcome: 'aborted' });
    expect(listeners(signal)).toBe(0);
    await setImmediate(); // the loser's rejection would come to light here
  });

  test('L6.1 a fired signal wins at once, over work that never settles', async () => {
    expect(await raceAbort(AbortSignal.abort(), forever())).toStrictEqual({ outcome: 'aborted' });
  });

  test('L6.1 the signal fires first; a late rejection of the work is consumed', async () => {
    const controller = new AbortController();
    const gate = new Gate();
    const race = raceAbort(controller.signal, gate.wait().then(thrower(error)));
    expect(listeners(controller.signal)).toBe(1);
    controller.abort();
    expect(await race).toStrictEqual({ outcome: 'aborted' });
    expect(listeners(controller.signal)).toBe(0);
    gate.open();
    await setImmediate(); // an unhandled rejection fails the run
  });

  test('L6.1 a signal that fires after the work settled changes nothing', async () => {
    const controller = new AbortController();
    const race = raceAbort(controller.signal, Promise.resolve('first'));
    await setImmediate();
    controller.abort();
    expect(await race).toStrictEqual({ outcome: 'ok', value: 'first' });
  });

  test('L6.1 a long-lived signal can be raced any number of times', async () => {
    const { signal } = new AbortController();
    for (let round = 0; round < 1000; round += 1) await raceAbort(signal, round);
    expect(listeners(signal)).toBe(0);
  });

  test('L6.1 isAborted: there, and fired', () => {
    expect([undefined, null, new AbortController().signal].map(isAborted)).toEqual([
      false,
      false,
      false,
    ]);
    expect(isAborted(AbortSignal.abort())).toBe(true);
  });
});

/** An iterator whose `return` is whatever is given. */
const iteratorWith = (more: object): AsyncIterator<unknown> => ({ next: forever, ...more });

describe('closeIterator', () => {
  test('L6.2 calls return() once, on the iterator', () => {
    const calls: unknown[][] = [];
    const iterator: AsyncIterator<unknown> = {
      next: forever,
      return(...args) {
        calls.push([this, ...args]);
        return forever();
      },
    };
    closeIterator(iterator);
    expect(calls).toHaveLength(1);
    expect(calls[0]?.[0]).toBe(iterator);
  });

  test.each([
    { name: 'no return', iterator: iteratorWith({}) },
    { name: 'a return that is undefined', iterator: iteratorWith({ return: undefined }) },
    { name: 'a return that is no function', iterator: iteratorWith({ return: 'x' }) },
    { name: 'a throw', iterator: iteratorWith({ return: thrower(new Error('stuck')) }) },
    {
      name: 'a rejection',
      iterator: iteratorWith({ return: () => Promise.reject(new Error('stuck')) }),
    },
    {
      name: 'a late rejection',
      iterator: iteratorWith({ return: () => setImmediate().then(thrower(undefined)) }),
    },
    { name: 'a promise that never settles', iterator: iteratorWith({ return: forever }) },
    { name: 'no promise', iterator: iteratorWith({ return: () => undefined }) },
    {
      name: 'a thenable that throws',
      iterator: iteratorWith({ return: () => ({ then: thrower(new Error('stuck')) }) }),
    },
    {
      name: 'a return that cannot be read',
      iterator: Object.defineProperty(iteratorWith({}), 'return', {
        get: thrower(new Error('stuck')),
      }),
    },
  ])('L6.2 swallows $name, and waits for nothing', async ({ iterator }) => {
    expect(() => {
      closeIterator(iterator);
    }).not.toThrow();
    await setImmediate();
    await setImmediate(); // an unhandled rejection fails the run
  });
});

describe('errorMessage', () => {
  class Coded extends TypeError {
    readonly code = 5;
  }
  test.each([
    { thrown: new Error('no disk'), message: 'no disk' },
    { thrown: new Coded('no pool'), message: 'no pool' },
    { thrown: new Error(''), message: '' },
    { thrown: 'text', message: 'text' },
    { thrown: '', message: '' },
    { thrown: 7, message: '7' },
    { thrown: 7n, message: '7' },
    { thrown: null, message: 'null' },
    { thrown: undefined, message: 'undefined' },
    { thrown: Symbol('why'), message: 'Symbol(why)' },
    { thrown: { message: 'not an Error' }, message: '[object Object]' },
    { thrown: ['a', 'b'], message: 'a,b' },
  ])('L6.3 $thrown: "$message"', ({ thrown, message }) => {
    expect(errorMessage(thrown)).toBe(message);
  });

  test.each([
    { name: 'no prototype', thrown: Object.create(null) as unknown },
    { name: 'a toString that throws', thrown: { toString: thrower(new Error('never')) } },
    { name: 'a toString that gives an object', thrown: { toString: () => ({}), valueOf: 1 } },
    {
      name: 'a message that throws',
      thrown: Object.defineProperty(new Error('x'), 'message', { get: thrower('never') }),
    },
    {
      name: 'a message that cannot be shown',
      thrown: Object.assign(new Error('x'), { message: Object.create(null) as unknown }),
    },
    {
      name: 'a proxy that refuses everything',
      thrown: new Proxy({}, { getPrototypeOf: thrower('never'), get: thrower('never') }),
    },
  ])('L6.3 $name still gives a text', ({ thrown }) => {
    const message = errorMessage(thrown);
    expect(typeof message).toBe('string');
    expect(message).not.toBe('');
  });
});

const deltas: StreamEvent[] = Array.from({ length: 1000 }, (_, index) =>
  index % 2 === 0 ? { kind: 'text', text: 'x' } : { kind: 'thinking', text: 'y' },
);

describe('the listeners of a turn', () => {
  test('L6.4 at most one on the caller, a fixed few on its own, none after it', async () => {
    const { signal } = new AbortController();
    const calls = ['a', 'b', 'c'].map((id) => ({ id, name: 'echo', args: id }));
    const llm = new ScriptedLlm([
      [...deltas, ...callTools(...calls)],
      [...deltas, done('hi')],
    ]);
    const onCaller: number[] = [];
    const onTurn: number[] = [];
    const count = () => {
      onCaller.push(listeners(signal));
      const own = llm.signals.at(-1);
      if (own !== undefined && own !== signal) onTurn.push(listeners(own));
    };
    const tools = new FakeToolRegistry({ echo: count });
    const loop = new DefaultAgentLoop(defaultAgentConfig(), { signal, sink: count });
    expect(await loop.runTurnOutcome(testContext({ llm, tools }), 'go')).toBe('completed');
    expect(onCaller.length).toBeGreaterThan(2000);
    expect(Math.max(...onCaller)).toBe(1);
    expect(Math.max(0, ...onTurn)).toBeLessThanOrEqual(2);
    expect(listeners(signal)).toBe(0);
    expect(llm.signals.map((own) => own && listeners(own))).toEqual([0, 0]);
  });

  test.each(['completed', 'cancelled', 'failed', 'a broken seam'])(
    'L6.4 none after a turn that ended %s',
    async (how) => {
      const controller = new AbortController();
      const { signal } = controller;
      const ends: Record<string, () => StreamEvent[]> = {
        cancelled: () => {
          controller.abort();
          return [];
        },
        failed: () => thrower(new Error('torn'))(),
      };
      const llm = new ScriptedLlm([[...deltas, () => ends[how]?.(), done('hi')]]);
      const loop = new DefaultAgentLoop(defaultAgentConfig(), { signal });
      const tools = new FakeToolRegistry();
      if (how === 'a broken seam') tools.schemas = thrower(new Error('no schemas'));
      await loop.runTurn(testContext({ llm, tools }), 'go').catch(() => undefined);
      expect(listeners(signal)).toBe(0);
    },
  );

  test('L6.4 one signal for many turns never collects listeners', async () => {
    const { signal } = new AbortController();
    for (let turn = 0; turn < 30; turn += 1) {
      const llm = new ScriptedLlm([[done('hi')]]);
      const loop = new DefaultAgentLoop(defaultAgentConfig(), { signal });
      await loop.runTurn(testContext({ llm }), 'go');
      expect(listeners(signal)).toBe(0);
    }
  });
});

/** A cancel that follows signals, as a turn's does. */
function linkSignals(...signals: readonly AbortSignal[]): Cancellation {
  const cancellation = new Cancellation();
  for (const signal of signals) cancellation.follow(cancellationOf(signal));
  return cancellation;
}

describe('Cancellation', () => {
  test('L6.4 follows the first that fires, with its reason, and lets go of all', () => {
    const first = new AbortController();
    const second = new AbortController();
    const { signal } = linkSignals(first.signal, second.signal, second.signal);
    expect([first.signal, second.signal].map(listeners)).toEqual([1, 1]);
    const reason = new Error('enough');
    second.abort(reason);
    expect(signal.reason).toBe(reason);
    expect([first.signal, second.signal].map(listeners)).toEqual([0, 0]);
    first.abort('later');
    expect(signal.reason).toBe(reason);
  });

  test('L6.4 one that fired already counts, and a released one never fires', () => {
    const early = linkSignals(new AbortController().signal, AbortSignal.abort('early'));
    expect(early.signal.reason).toBe('early');
    const controller = new AbortController();
    const linked = linkSignals(controller.signal);
    const { signal } = linked;
    linked.release();
    controller.abort();
    expect(signal.aborted).toBe(false);
    const alone = linkSignals();
    expect(alone.signal.aborted).toBe(false);
    alone.release();
  });

  test('L6.4 letting go twice takes nothing from who follows by then', () => {
    const controller = new AbortController();
    const former = linkSignals(controller.signal);
    former.release();
    const latter = linkSignals(controller.signal);
    former.release();
    const third = linkSignals(controller.signal);
    expect(listeners(controller.signal)).toBe(1);
    controller.abort('now');
    expect([latter, third].map(({ signal }) => signal.reason as unknown)).toEqual(['now', 'now']);
    expect(listeners(controller.signal)).toBe(0);
  });
});
