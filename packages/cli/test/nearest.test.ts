import { expect, it } from 'vitest';

import { nearestName } from '../src/nearest.ts';

const NAMES = ['help', 'version', 'json', 'root', 'timeout', 'idle-timeout', 'max-steps'];

it.each([
  ['rot', 'root'],
  ['roots', 'root'],
  ['josn', 'json'],
  ['time-out', 'timeout'],
  ['idle', 'idle-timeout'],
  ['steps', 'max-steps'],
  ['ver', null],
  ['bogus', null],
  ['x', null],
  ['', null],
  ['toString', null],
  ['😀😀', null],
])('%s: %s', (word, name) => {
  expect(nearestName(word, NAMES)).toBe(name);
});
