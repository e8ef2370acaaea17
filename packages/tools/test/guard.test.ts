import { DefaultToolRegistry } from '@celestea/tools';
import type { ToolInput, ToolOutput } from '@celestea/core';
import { describe, expect, test, vi } from 'vitest';

import { call, guardOf, toolOf } from './support/doubles.ts';

async function judged(
  answers: (() => unknown)[],
): Promise<{ output: ToolOutput; ran: boolean; asked: number[] }> {
  const registry = new DefaultToolRegistry();
  const execute = vi.fn(() => 'ran');
  const asked: number[] = [];
  registry.register(toolOf('tool', execute));
  for (const [index, answer] of answers.entries()) {
    registry.addGuard(
      guardOf(() => {
        asked.push(index);
        return answer();
      }),
    );
  }
  const output = await registry.dispatch(call('tool'));
  return { output, ran: execute.mock.calls.length > 0, asked };
}

const allow = (): unknown => ({ kind: 'allow' });

describe('C3.6 the guards', () => {
  test('C3.6 all allow: the tool runs and the decision says so', async () => {
    const { output, ran, asked } = await judged([allow, allow]);
    expect(output).toMatchObject({ value: 'ran', error: null, decision: { kind: 'allow' } });
    expect([ran, asked]).toEqual([true, [0, 1]]);
  });

  test('C3.6 a deny ends the chain, and a later allow never undoes it', async () => {
    const deny = (): unknown => ({ kind: 'deny', reason: 'not on Sundays' });
    const { output, ran, asked } = await judged([allow, deny, allow]);
    expect(output).toEqual({
      call_id: 'call-1',
      value: null,
      render: null,
      error: 'denied: not on Sundays',
      decision: { kind: 'deny', reason: 'not on Sundays' },
    });
    expect([ran, asked]).toEqual([false, [0, 1]]);
  });

  test('C3.6 an ask ends the chain: nobody is there to approve', async () => {
    const ask = (): unknown => ({ kind: 'ask', reason: 'it writes' });
    const { output, ran, asked } = await judged([ask, allow]);
    expect(output.error).toBe('needs approval, and nobody is there to give it: it writes');
    expect(output.decision).toEqual({ kind: 'ask', reason: 'it writes' });
    expect([ran, asked]).toEqual([false, [0]]);
  });

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['true', true],
    ['the word allow', 'allow'],
    ['an array', ['allow']],
    ['no kind', {}],
    ['an unknown kind', { kind: 'ALLOW' }],
    ['a kind that reads as one', { kind: ['allow'] }],
  ])('C3.6 a guard that answers nonsense denies: %s', async (_title, answer) => {
    const { output, ran } = await judged([() => answer, allow]);
    expect(output.decision?.kind).toBe('deny');
    expect(output.error).toContain("denied: a guard's verdict is unreadable: expected allow");
    expect(ran).toBe(false);
  });

  test('C3.6 a guard that throws, at once or later, denies', async () => {
    const registry = new DefaultToolRegistry();
    registry.register(toolOf('tool'));
    registry.addGuard({
      check: () => {
        throw new Error('no policy');
      },
    });
    const sync = await registry.dispatch(call('tool'));
    expect(sync.decision).toEqual({ kind: 'deny', reason: 'a guard failed: no policy' });
    const { output } = await judged([() => Promise.reject(new Error('policy server is down'))]);
    expect(output.error).toBe('denied: a guard failed: policy server is down');
  });

  test.each([undefined, '', '  ', 5])('C3.4 a refusal always has a reason: %j', async (reason) => {
    const { output } = await judged([() => ({ kind: 'deny', reason })]);
    expect(output.error).toBe('denied: no reason given');
  });

  test('C3.4 a huge reason is bounded', async () => {
    const { output } = await judged([() => ({ kind: 'ask', reason: 'x'.repeat(100_000) })]);
    expect(output.error?.length).toBeLessThan(2_100);
  });

  test('C3.6 guards judge before the tool is looked up; what was judged is what runs', async () => {
    const registry = new DefaultToolRegistry();
    const seen: ToolInput[] = [];
    registry.register(toolOf('safe', () => 'safe'));
    registry.register(toolOf('unsafe', () => 'unsafe'));
    const input = call('safe');
    registry.addGuard(
      guardOf((given) => {
        seen.push(given);
        input.name = 'unsafe';
        return { kind: 'allow' };
      }),
    );
    expect((await registry.dispatch(input)).value).toBe('safe');
    expect(await registry.dispatch(call('nope'))).toMatchObject({
      error: 'unknown tool "nope"; the tools are: safe, unsafe',
      decision: { kind: 'allow' },
    });
    expect(seen.map(({ name }) => name)).toEqual(['safe', 'nope']);
    registry.addGuard(
      guardOf((given) => {
        given.name = 'unsafe';
        return { kind: 'allow' };
      }),
    );
    expect((await registry.dispatch(call('safe'))).decision?.kind).toBe('deny');
  });

  test('C3.6 guards that cannot be found deny', async () => {
    const registry = new DefaultToolRegistry({
      findGuards: () => {
        throw new Error('no scope');
      },
    });
    registry.register(toolOf('tool'));
    expect((await registry.dispatch(call('tool'))).error).toBe(
      'denied: the guards could not be found: no scope',
    );
  });

  test.each<[string, unknown]>([
    ['a function', () => [guardOf(() => ({ kind: 'allow' }))]],
    ['what has no length', { length: 0 }],
    ['nothing', undefined],
  ])('C3.6 what is no list of guards denies: %s', async (_, found) => {
    const registry = new DefaultToolRegistry({ findGuards: () => found as never });
    registry.register(toolOf('tool'));
    const { error, decision } = await registry.dispatch(call('tool'));
    expect(error).toMatch(/^denied: the guards could not be found: /);
    expect(decision?.kind).toBe('deny');
  });
});
