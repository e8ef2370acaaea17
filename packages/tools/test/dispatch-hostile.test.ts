import { DefaultToolRegistry } from '@celestea/tools';
import { describe, expect, test, vi } from 'vitest';

import { plainValue } from '../src/plain-value.ts';
import { deferred } from './support/deferred.ts';
import { call, guardOf, toolOf } from './support/doubles.ts';

const allow = () => ({ kind: 'allow' });

const setup = (execute: () => unknown = () => 'ran'): DefaultToolRegistry => {
  const registry = new DefaultToolRegistry();
  registry.register(toolOf('tool', execute));
  return registry;
};

describe('dispatch never rejects', () => {
  test('C3.7 arguments that are a revoked proxy are an error result', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const output = await setup().dispatch(call('tool', proxy));
    expect(output.error).toContain('expected JSON, got an object (Cannot perform ');
  });

  test('C3.7 options whose signal cannot be read are an error result', async () => {
    const options = {
      get signal(): AbortSignal {
        throw new Error('trap');
      },
    };
    const execute = vi.fn();
    const output = await setup(execute).dispatch(call('tool'), options);
    expect(output).toMatchObject({ error: expect.stringContaining('trap') as string });
    expect(execute).not.toHaveBeenCalled();
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

  test('C3.3 a proxy whose values are not its fields is no plain value', () => {
    const proxy = new Proxy({ a: 1 }, { get: () => () => 'no JSON' });
    expect(plainValue(proxy)).not.toBe(proxy);
  });

  test('C3.3 a date says its time, whatever its class makes of it', () => {
    class Odd extends Date {
      override toISOString(): string {
        return { odd: true } as never;
      }
    }
    expect(plainValue(new Odd(0))).toBe('1970-01-01T00:00:00.000Z');
  });
});
