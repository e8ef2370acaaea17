import { expect, expectTypeOf, test } from 'vitest';

import { formatInjection, type InjectionSource, type PendingInjection } from '@celestea/core';

test('C5.8 formatInjection names the sender, unless there is none', () => {
  expect(formatInjection({ text: 'stop', from: 'ann' })).toBe('[from ann] stop');
  expect(formatInjection({ text: 'stop', from: '' })).toBe('stop');
  expect(formatInjection({ text: '', from: 'ann' })).toBe('[from ann] ');
  expect(formatInjection({ text: '', from: '' })).toBe('');
  expect(formatInjection({ text: 'a\nb', from: 'x y' })).toBe('[from x y] a\nb');
  expect(formatInjection({ text: '$& $1', from: '$&' })).toBe('[from $&] $& $1');
});

test('C5.8 the shapes of an injection and its source; pending is optional', () => {
  expectTypeOf<PendingInjection>().toEqualTypeOf<{ text: string; from: string }>();
  expectTypeOf<InjectionSource>().toEqualTypeOf<{
    drain(): readonly PendingInjection[];
    pending?(): number;
  }>();
});
