import { DefaultToolRegistry, isDenial } from '@celestea/tools';
import { describe, expect, test, vi } from 'vitest';

import { deferred } from './support/deferred.ts';
import { call, guardOf, toolOf } from './support/doubles.ts';

const allow = () => ({ kind: 'allow' });

const setup = (execute: () => unknown = () => 'ran'): DefaultToolRegistry => {
  const registry = new DefaultToolRegistry();
  registry.register(toolOf('tool', execute));
  return registry;
};

describe('dispatch never rejects', () => {
  test('C3.7 a result that throws when it is read is the error of its call', async () => {
    const value = Object.defineProperty({}, 'bad', {
      enumerable: true,
      get: () => {
        throw new Error('trap');
      },
    });
    expect((await setup(() => value).dispatch(call('tool'))).error).toBe('trap');
  });

  test('C3.6 a promise where an answer is due at once denies, and its rejection is taken', async () => {
    const late = (): never => Promise.reject(new Error('nobody waits for it')) as never;
    const asking = guardOf(() => ({ kind: 'ask', reason: 'it writes' }));
    const cases: [DefaultToolRegistry, string][] = [
      [new DefaultToolRegistry({ findGuards: late }), 'findGuards'],
      [new DefaultToolRegistry({ findApproval: late, findGuards: () => [asking] }), 'findApproval'],
    ];
    for (const [registry, name] of cases) {
      registry.register(toolOf('tool'));
      const { error, decision } = await registry.dispatch(call('tool'));
      expect(decision?.kind).toBe('deny');
      expect(isDenial(error)).toBe(true);
      expect(error).toContain(`${name}: expected an answer at once, got a promise`);
    }
    expect([isDenial(null), isDenial('not denied: ')]).toEqual([false, false]);
  });

  test.each(['{"n":1e999}', '{"n":[{"m":-1e999}]}'])(
    'C3.2 a number that is too large is refused: %s',
    async (args) => {
      const output = await setup().dispatch(call('tool', args));
      expect(output.error).toContain('a number in it is too large');
    },
  );
});

describe('a guard that does not answer', () => {
  test.each(['before', 'while'])('C3.6 is not waited for: cancelled %s asked', async (when) => {
    const controller = new AbortController();
    const late = deferred<unknown>();
    const execute = vi.fn();
    const next = vi.fn(allow);
    const registry = setup(execute);
    registry.addGuard(guardOf(() => late.promise));
    registry.addGuard(guardOf(next));
    if (when === 'before') controller.abort();
    const dispatched = registry.dispatch(call('tool'), { signal: controller.signal });
    await Promise.resolve();
    controller.abort();
    const reason = 'cancelled before a guard had answered';
    expect(await dispatched).toMatchObject({ error: reason, decision: { kind: 'deny', reason } });
    late.reject(new Error('too late')); // consumed
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([execute.mock.calls, next.mock.calls]).toEqual([[], []]);
  });

  test('C3.6 no listener is left behind by one that does', async () => {
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    const registry = setup();
    registry.addGuard(guardOf(allow));
    expect((await registry.dispatch(call('tool'), { signal })).value).toBe('ran');
    expect(add.mock.calls.map(([, listener]) => listener)).toEqual(
      remove.mock.calls.map(([, listener]) => listener),
    );
  });
});

describe('what was judged is what runs', () => {
  test('C3.6 no guard can change the arguments after another allowed them', async () => {
    const execute = vi.fn();
    const registry = setup(execute);
    registry.addGuard(guardOf(allow));
    registry.addGuard(
      guardOf(({ args }) => {
        (args as { list: { cmd: string }[] }).list.push({ cmd: 'rm' });
        return { kind: 'allow' };
      }),
    );
    const output = await registry.dispatch(call('tool', { list: [{ cmd: 'ls' }] }));
    expect(output.decision?.kind).toBe('deny');
    expect(output.error).toContain('a guard failed');
    expect(execute).not.toHaveBeenCalled();
  });

  test('C3.2 the tool may change its own copy, which no guard sees', async () => {
    const seen: unknown[] = [];
    const registry = new DefaultToolRegistry();
    registry.addGuard(guardOf(({ args }) => (seen.push(args), { kind: 'allow' })));
    registry.register({
      ...toolOf('tool'),
      execute: (args) => {
        (args as { list: number[] }).list.push(2);
        return Promise.resolve(args);
      },
    });
    const given = { list: [1] };
    expect((await registry.dispatch(call('tool', given))).value).toEqual({ list: [1, 2] });
    expect([seen, given]).toEqual([[{ list: [1] }], { list: [1] }]);
  });
});

describe('what a result says', () => {
  test('C3.3 error and reason are well-formed text', async () => {
    const registry = setup();
    registry.addGuard(guardOf(() => ({ kind: 'deny', reason: 'half \ud800' })));
    expect(await registry.dispatch(call('tool'))).toMatchObject({
      error: 'denied: half \ufffd',
      decision: { kind: 'deny', reason: 'half \ufffd' },
    });
  });
});
