import { askBefore, denyTools, readOnlyGuard } from '@celestea/tools';
import type { ToolDecision, ToolGuard } from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { call } from './support/doubles.ts';

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

test('C3.4 readOnlyGuard denies all but the tools that read', async () => {
  expect(
    await kinds(readOnlyGuard(), ['list_dir', 'read_file', 'search_text', 'write_file', 'x', '']),
  ).toEqual(['allow', 'allow', 'allow', 'deny', 'deny', 'deny']);
  expect(await kinds(readOnlyGuard(['clock']), ['clock', 'read_file'])).toEqual(['allow', 'deny']);
  expect(await check(readOnlyGuard([]), 'read_file')).toEqual({
    kind: 'deny',
    reason: 'only tools that read may be used here',
  });
});

describe('misuse', () => {
  test.each([undefined, 'run', 5, null, {}, new Set(['run'])])(
    'names that are no list are a TypeError, and never a guard that guards nothing: %j',
    (bad) => {
      for (const make of [askBefore, denyTools]) {
        expect(() => make(bad as never)).toThrow(/^which: expected an array of tool names, got /);
      }
      if (bad === undefined) return;
      expect(() => readOnlyGuard(bad as never)).toThrow(/^readOnly: expected an array/);
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
    ['a promise', () => Promise.resolve(false)],
    ['nothing', () => undefined],
    ['a word', () => 'no'],
    ['a throw', () => { throw new Error('no policy'); }],
  ])('C3.6 a function that gives %s rejects, which a registry reads as deny', async (_, which) => {
    await expect(askBefore(which as never).check(call('a'))).rejects.toThrow(
      /^(which: expected a function that gives true or false, got|no policy)/,
    );
  });
});
