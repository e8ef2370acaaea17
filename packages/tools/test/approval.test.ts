import { getEventListeners } from 'node:events';

import {
  APPROVAL_SERVICE,
  DefaultToolRegistry,
  toolRegistryPlugin,
  type ApprovalRequest,
  type ApprovalService,
  type ApprovalVerdict,
  type ToolRegistryOptions,
} from '@celestea/tools';
import {
  Context,
  mountPlugins,
  TOOL_REGISTRY_SERVICE,
  type ToolGuard,
  type ToolOutput,
} from '@celestea/core';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { deferred } from './support/deferred.ts';
import { call, guardOf, toolOf } from './support/doubles.ts';

const asking = guardOf(() => ({ kind: 'ask', reason: 'it writes' }));
const allowing = guardOf(() => ({ kind: 'allow' }));
const denying = guardOf(() => ({ kind: 'deny', reason: 'never' }));

const serviceOf = (decide: (request: ApprovalRequest, signal?: AbortSignal) => unknown) => ({
  decide: async (request: ApprovalRequest, { signal }: { signal?: AbortSignal }) =>
    (await decide(request, signal)) as ApprovalVerdict,
});

const allow = (): unknown => ({ kind: 'allow' });

interface Setup {
  registry: DefaultToolRegistry;
  ran: () => number;
}

function setup(
  service: ApprovalService | undefined,
  guards: ToolGuard[] = [asking],
  options: ToolRegistryOptions = {},
): Setup {
  const registry = new DefaultToolRegistry({ findApproval: () => service, ...options });
  const execute = vi.fn(() => 'ran');
  registry.register(toolOf('tool', execute));
  for (const guard of guards) registry.addGuard(guard);
  return { registry, ran: () => execute.mock.calls.length };
}

const refusedWith = (output: ToolOutput): string => {
  expect(output).toMatchObject({ value: null, render: null });
  return output.error ?? '';
};

afterEach(() => {
  vi.useRealTimers();
});

describe('an ask that is answered', () => {
  test('C3.6 an approved call runs, and its decision is allow', async () => {
    const seen: unknown[] = [];
    let heard: AbortSignal | undefined;
    const service = serviceOf((request, signal) => {
      seen.push(request);
      heard = signal;
      return { kind: 'allow' };
    });
    const { registry } = setup(service, [allowing, asking]);
    const output = await registry.dispatch(call('tool', { a: 1 }));
    expect(output).toMatchObject({ value: 'ran', error: null, decision: { kind: 'allow' } });
    expect(seen).toEqual([
      { call_id: 'call-1', name: 'tool', args: { a: 1 }, reason: 'it writes' },
    ]);
    expect(Object.isFrozen(seen[0])).toBe(true);
    expect(heard?.aborted).toBe(false);
  });

  test('X2 an answered call leaves no listener on a signal that lives on', async () => {
    const { signal } = new AbortController();
    for (const answer of [{ kind: 'allow' }, { kind: 'deny' }, 'nonsense']) {
      await setup(serviceOf(() => answer)).registry.dispatch(call('tool'), { signal });
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    }
  });

  test('C3.6 a refused call does not run, and says why', async () => {
    const { registry, ran } = setup(serviceOf(() => ({ kind: 'deny', reason: 'not that file' })));
    const output = await registry.dispatch(call('tool'));
    expect(output.decision).toEqual({ kind: 'deny', reason: 'not that file' });
    expect(refusedWith(output)).toBe('denied: not that file');
    expect(ran()).toBe(0);
  });

  test.each([undefined, '', 5])('C3.4 a refusal always has a reason: %j', async (reason) => {
    const { registry } = setup(serviceOf(() => ({ kind: 'deny', reason })));
    expect((await registry.dispatch(call('tool'))).error).toBe('denied: no reason given');
  });

  test('C3.6 nobody to ask: the call is refused and its decision stays ask', async () => {
    for (const service of [undefined, null as never]) {
      const { registry, ran } = setup(service);
      const output = await registry.dispatch(call('tool'));
      expect(output.decision).toEqual({ kind: 'ask', reason: 'it writes' });
      expect(output.error).toBe('needs approval, and nobody is there to give it: it writes');
      expect(ran()).toBe(0);
    }
  });

  test('C3.6 only asks are put to the service', async () => {
    const decide = vi.fn(allow);
    for (const guards of [[], [allowing], [denying, asking]]) {
      await setup(serviceOf(decide), guards).registry.dispatch(call('tool'));
    }
    expect(decide).not.toHaveBeenCalled();
  });

  test('two calls can wait at the same time, and each gets its own answer', async () => {
    const answers = new Map([
      ['a', deferred<ApprovalVerdict>()],
      ['b', deferred<ApprovalVerdict>()],
    ]);
    const { registry, ran } = setup(serviceOf(({ call_id }) => answers.get(call_id)?.promise));
    const [a, b] = ['a', 'b'].map((id) => registry.dispatch({ ...call('tool'), call_id: id }));
    answers.get('b')?.resolve({ kind: 'allow' });
    expect((await b)?.error).toBeNull();
    answers.get('a')?.resolve({ kind: 'deny', reason: 'no' });
    expect((await a)?.error).toBe('denied: no');
    expect(ran()).toBe(1);
  });
});

describe('an approval answers the guard that asked, and no other', () => {
  test('C3.6 the guards after it are still asked, in order and once approved', async () => {
    const order: string[] = [];
    const noted = (name: string, kind: string): ToolGuard =>
      guardOf(() => {
        order.push(name);
        return { kind, reason: name };
      });
    const service = serviceOf(() => {
      order.push('service');
      return { kind: 'allow' };
    });
    const { registry } = setup(service, [
      noted('first', 'allow'),
      noted('asks', 'ask'),
      noted('last', 'allow'),
    ]);
    expect((await registry.dispatch(call('tool'))).decision).toEqual({ kind: 'allow' });
    expect(order).toEqual(['first', 'asks', 'service', 'last']);
  });

  test('C3.6 a later deny stands', async () => {
    const { registry, ran } = setup(serviceOf(allow), [asking, denying]);
    const output = await registry.dispatch(call('tool'));
    expect(output).toMatchObject({ error: 'denied: never', decision: { kind: 'deny' } });
    expect(ran()).toBe(0);
  });

  test('C3.6 a later ask is a question of its own', async () => {
    const second = guardOf(() => ({ kind: 'ask', reason: 'it is late' }));
    const reasons: string[] = [];
    const service = serviceOf(({ reason }) => {
      reasons.push(reason);
      return reason === 'it writes' ? { kind: 'allow' } : { kind: 'deny', reason: 'tomorrow' };
    });
    const { registry, ran } = setup(service, [asking, second]);
    expect((await registry.dispatch(call('tool'))).error).toBe('denied: tomorrow');
    expect(reasons).toEqual(['it writes', 'it is late']);
    expect(ran()).toBe(0);
  });

  test('C3.6 after a refusal no guard is asked any more', async () => {
    const check = vi.fn(allow);
    const service = serviceOf(() => ({ kind: 'deny', reason: 'no' }));
    await setup(service, [asking, guardOf(check)]).registry.dispatch(call('tool'));
    expect(check).not.toHaveBeenCalled();
  });

  test('what was approved is what runs: its arguments cannot be changed', async () => {
    const change = ({ args }: { args: unknown }): unknown => {
      (args as { path: string }).path = '../b.txt';
      return { kind: 'allow' };
    };
    const frozen = "failed: Cannot assign to read only property 'path' of object '#<Object>'";
    const changing: [ApprovalService, ToolGuard[], string][] = [
      [serviceOf(change), [asking], `denied: the approval service ${frozen}`],
      [serviceOf(allow), [asking, guardOf(change)], `denied: a guard ${frozen}`],
      [serviceOf(allow), [asking, guardOf(change), asking], `denied: a guard ${frozen}`],
    ];
    for (const [service, guards, error] of changing) {
      const { registry, ran } = setup(service, guards);
      const output = await registry.dispatch(call('tool', { path: 'a.txt' }));
      expect(output.error).toBe(error);
      expect(output.decision?.kind).toBe('deny');
      expect(ran()).toBe(0);
    }
  });
});

describe('a service that is broken refuses', () => {
  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['true', true],
    ['the word allow', 'allow'],
    ['an array', ['allow']],
    ['no kind', {}],
    ['an unknown kind', { kind: 'ALLOW' }],
    ['a kind that reads as one', { kind: ['allow'] }],
    ['a number', 1],
  ])('an answer that is no verdict: %s', async (_title, answer) => {
    const { registry, ran } = setup(serviceOf(() => answer));
    const output = await registry.dispatch(call('tool'));
    expect(output.decision?.kind).toBe('deny');
    expect(output.error).toContain(
      "denied: the approval service's verdict is unreadable: expected allow or deny, got ",
    );
    expect(ran()).toBe(0);
  });

  test('an ask is no answer', async () => {
    const { registry, ran } = setup(serviceOf(() => ({ kind: 'ask', reason: 'you tell me' })));
    expect((await registry.dispatch(call('tool'))).error).toBe('denied: you tell me');
    expect(ran()).toBe(0);
  });

  test('one that throws, rejects, is none or cannot be found', async () => {
    const throwing = {
      decide: () => {
        throw new Error('no screen');
      },
    };
    const cases: [ApprovalService | undefined, ToolRegistryOptions, string][] = [
      [throwing, {}, 'the approval service failed: no screen'],
      [serviceOf(() => Promise.reject(new Error('gone'))), {}, 'failed: gone'],
      [{} as never, {}, 'the approval service failed: '],
      [
        undefined,
        {
          findApproval: () => {
            throw new Error('no scope');
          },
        },
        'the approval service could not be found: no scope',
      ],
    ];
    for (const [service, options, reason] of cases) {
      const { registry, ran } = setup(service, [asking], options);
      const output = await registry.dispatch(call('tool'));
      expect(output.decision?.kind).toBe('deny');
      expect(output.error).toContain(reason);
      expect(ran()).toBe(0);
    }
  });
});

describe('X2 a call that is cancelled while it waits', () => {
  test.each<[string, (answer: ReturnType<typeof deferred<ApprovalVerdict>>) => void]>([
    ['allows', (answer) => { answer.resolve({ kind: 'allow' }); }],
    ['rejects', (answer) => { answer.reject(new Error('window closed')); }],
    ['never answers', () => undefined],
  ])('is answered at once, and a service that %s later changes nothing', async (_title, late) => {
    const answer = deferred<ApprovalVerdict>();
    const asked = deferred<AbortSignal | undefined>();
    const { registry, ran } = setup(
      serviceOf((_request, signal) => {
        asked.resolve(signal);
        return answer.promise;
      }),
    );
    const controller = new AbortController();
    const dispatched = registry.dispatch(call('tool'), { signal: controller.signal });
    const heard = await asked.promise;
    const reason = new Error('the turn is over');
    controller.abort(reason);
    const output = await dispatched;
    expect(output.error).toBe('cancelled while approval was awaited: it writes');
    expect(output.decision).toEqual({ kind: 'ask', reason: 'it writes' });
    expect(heard?.reason).toBe(reason);
    late(answer);
    await new Promise((resolve) => setImmediate(resolve));
    expect(ran()).toBe(0);
  });

  test('nobody is asked about a call that was cancelled before', async () => {
    const decide = vi.fn(allow);
    const { registry, ran } = setup(serviceOf(decide));
    const output = await registry.dispatch(call('tool'), { signal: AbortSignal.abort() });
    expect(output.error).toBe('cancelled while approval was awaited: it writes');
    expect(decide).not.toHaveBeenCalled();
    expect(ran()).toBe(0);
  });

  test('a service that cancels and allows in one breath has cancelled', async () => {
    const controller = new AbortController();
    const { registry, ran } = setup(
      serviceOf(() => {
        controller.abort();
        return { kind: 'allow' };
      }),
    );
    const output = await registry.dispatch(call('tool'), { signal: controller.signal });
    expect(output.error).toContain('cancelled');
    expect(ran()).toBe(0);
  });

  test('a cancel right after the approval keeps the tool from starting', async () => {
    const controller = new AbortController();
    const late = guardOf(() => {
      controller.abort();
      return { kind: 'allow' };
    });
    const { registry, ran } = setup(serviceOf(allow), [asking, late]);
    const output = await registry.dispatch(call('tool'), { signal: controller.signal });
    expect(output.error).toBe('cancelled before the tool ran');
    expect(ran()).toBe(0);
  });
});

describe('approvalTimeoutMs', () => {
  test('ends the wait with an error that names it, and leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const answer = deferred<ApprovalVerdict>();
    let heard: AbortSignal | undefined;
    const service = serviceOf((_request, signal) => {
      heard = signal;
      return answer.promise;
    });
    const { registry, ran } = setup(service, [asking], { approvalTimeoutMs: 5_000 });
    const dispatched = registry.dispatch(call('tool'));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(heard?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const output = await dispatched;
    expect(output.error).toBe('needs approval, and none was given within 5000 ms: it writes');
    expect(output.decision).toEqual({ kind: 'ask', reason: 'it writes' });
    expect(heard?.aborted).toBe(true);
    answer.resolve({ kind: 'allow' });
    await vi.advanceTimersByTimeAsync(10_000);
    expect([ran(), vi.getTimerCount()]).toEqual([0, 0]);
  });

  test('an answer in time, and a cancel, leave no timer either', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const timed = { approvalTimeoutMs: 5_000 };
    await setup(serviceOf(allow), [asking], timed).registry.dispatch(call('tool'));
    expect(vi.getTimerCount()).toBe(0);
    const controller = new AbortController();
    const hanging = setup(serviceOf(() => new Promise(() => undefined)), [asking], timed);
    const dispatched = hanging.registry.dispatch(call('tool'), { signal: controller.signal });
    await vi.advanceTimersByTimeAsync(1);
    expect(vi.getTimerCount()).toBe(1);
    controller.abort();
    expect((await dispatched).error).toContain('cancelled');
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([0, -1, NaN, Infinity, 2 ** 31, '5', null])('a bad one is a TypeError: %j', (bad) => {
    expect(() => new DefaultToolRegistry({ approvalTimeoutMs: bad as never })).toThrow(
      /^approvalTimeoutMs: expected a number of milliseconds above 0 and up to 2147483647, got /,
    );
    expect(() => new DefaultToolRegistry({ findApproval: 5 as never })).toThrow(
      new TypeError('findApproval: expected a function, got 5'),
    );
  });
});

test('C5.3 the plugin looks for the service at each ask, in its scope and above', async () => {
  expect(APPROVAL_SERVICE).toBe('celestea.tools.ApprovalService');
  const parent = Context.root();
  const ctx = mountPlugins(parent.scoped(), [toolRegistryPlugin([toolOf('a')], [asking])]);
  const registry = ctx.require(TOOL_REGISTRY_SERVICE);
  expect((await registry.dispatch(call('a'))).decision?.kind).toBe('ask');
  parent.provide(APPROVAL_SERVICE, serviceOf(allow));
  expect(await registry.dispatch(call('a'))).toMatchObject({ value: 'a', error: null });
  ctx.provide(APPROVAL_SERVICE, null);
  expect((await registry.dispatch(call('a'))).decision?.kind).toBe('ask');
});
