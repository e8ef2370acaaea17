import {
  askBefore,
  DefaultToolRegistry,
  denyTools,
  fileTools,
  readOnlyGuard,
  workTools,
} from '@celestea/tools';
import type { Tool, ToolDecision, ToolGuard } from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { call, toolOf } from './support/doubles.ts';

const kinds = async (guard: ToolGuard, names: string[]): Promise<string[]> => {
  const decisions = await Promise.all(names.map((name) => guard.check(call(name))));
  return decisions.map(({ kind }) => kind);
};

const check = (guard: ToolGuard, name: string): Promise<ToolDecision> => guard.check(call(name));

test('C3.4 askBefore asks before the named tools', async () => {
  const guard = askBefore(['write', 'run'], 'it changes things');
  expect(await kinds(guard, ['write', 'run', 'read', 'Write', 'write '])).toEqual([
    'ask',
    'ask',
    'allow',
    'allow',
    'allow',
  ]);
  expect(await check(guard, 'run')).toEqual({ kind: 'ask', reason: 'it changes things' });
  expect(await check(askBefore(['run']), 'run')).toEqual({
    kind: 'ask',
    reason: '"run" is to be approved first',
  });
});

test('C3.4 askBefore asks before the calls a function picks', async () => {
  const guard = askBefore(({ args }) => args === 'big');
  expect((await guard.check(call('x', 'big'))).kind).toBe('ask');
  expect((await guard.check(call('x', 'small'))).kind).toBe('allow');
});

test('C3.4 denyTools denies the named tools and allows the others', async () => {
  const guard = denyTools(['run']);
  expect(await check(guard, 'run')).toEqual({
    kind: 'deny',
    reason: '"run" is not to be used here',
  });
  expect(await check(denyTools(['run'], 'no'), 'run')).toEqual({ kind: 'deny', reason: 'no' });
  expect(await check(guard, 'read')).toEqual({ kind: 'allow' });
  expect(await kinds(denyTools(({ name }) => name.startsWith('net_')), ['net_x', 'x'])).toEqual([
    'deny',
    'allow',
  ]);
});

const reader = (name: string): Tool => ({ ...toolOf(name), readOnly: true });

describe('readOnlyGuard denies all but the tools that say they only read', () => {
  test('C3.4 of a list', async () => {
    const guard = readOnlyGuard([reader('clock'), toolOf('mail')]);
    expect(await kinds(guard, ['clock', 'mail', 'x', ''])).toEqual(['allow', 'deny', 'deny', 'deny']);
    expect(await check(readOnlyGuard([]), 'clock')).toEqual({
      kind: 'deny',
      reason: 'only tools that read may be used here',
    });
  });

  test('C3.4 of a registry, as it is at each call', async () => {
    const registry = new DefaultToolRegistry();
    const guard = readOnlyGuard(registry);
    registry.register(reader('clock'));
    registry.register(toolOf('mail'));
    expect(await kinds(guard, ['clock', 'mail', 'x'])).toEqual(['allow', 'deny', 'deny']);
    registry.register(toolOf('clock'));
    expect((await check(guard, 'clock')).kind).toBe('deny');
  });

  test('C3.1 the tools of fileTools say so, those of workTools do not, and no model is told', () => {
    const all = [...fileTools('.'), ...workTools('.').tools];
    const reading = all.filter((tool) => tool.readOnly).map((tool) => tool.spec().name);
    expect(reading).toEqual(['list_dir', 'read_file', 'search_text']);
    for (const tool of all) expect(tool.spec()).not.toHaveProperty('readOnly');
  });
});

describe('misuse', () => {
  test.each([undefined, 'run', 5, null, {}, new Set(['run'])])(
    'names that are no list are a TypeError, and never a guard that guards nothing: %j',
    (bad) => {
      for (const make of [askBefore, denyTools]) {
        expect(() => make(bad as never)).toThrow(/^which: expected an array of tool names, got /);
      }
      expect(() => readOnlyGuard(bad as never)).toThrow(
        /^tools: expected a registry or an array of tools, got /,
      );
    },
  );

  test.each([[''], [5], [null], [undefined]])('what is no name is a TypeError: %j', (bad) => {
    expect(() => askBefore(['a', bad as never])).toThrow('which: expected tool names only');
  });

  test('a reason that is none is a TypeError', () => {
    expect(() => askBefore(['a'], 5 as never)).toThrow('reason: expected a string or nothing');
  });

  test('a list that is changed afterwards changes nothing', async () => {
    const names = ['run'];
    const guard = denyTools(names);
    names.pop();
    expect((await check(guard, 'run')).kind).toBe('deny');
  });

  test.each<[string, () => unknown]>([
    ['a promise', () => Promise.reject(new Error('and nobody waits'))],
    ['nothing', () => undefined],
    ['a word', () => 'no'],
    ['a throw', () => { throw new Error('no policy'); }],
  ])('C3.6 a function that gives %s rejects, which a registry reads as deny', async (_, which) => {
    await expect(askBefore(which as never).check(call('a'))).rejects.toThrow(
      /^(which: expected (a function that gives true or false|an answer at once), got|no policy)/,
    );
  });
});
