import { expect, it } from 'vitest';

import { createStyle, wantsColours } from '../src/style.ts';
import { FakeOutput } from './support/io.ts';

it.each([
  ['a terminal', true, {}, true],
  ['no terminal', false, {}, false],
  ['NO_COLOR', true, { NO_COLOR: '1' }, false],
  ['an empty NO_COLOR', true, { NO_COLOR: '' }, true],
  ['a dumb terminal', true, { TERM: 'dumb' }, false],
  ['FORCE_COLOR without a terminal', false, { FORCE_COLOR: '1' }, true],
  ['an empty FORCE_COLOR', false, { FORCE_COLOR: '' }, false],
  ['FORCE_COLOR=0', true, { FORCE_COLOR: '0' }, false],
  ['FORCE_COLOR=false', true, { FORCE_COLOR: 'false' }, false],
  ['NO_COLOR against FORCE_COLOR', true, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
])('%s', (_, isTTY, env, colours) => {
  expect(wantsColours({ stdout: new FakeOutput(isTTY), env })).toBe(colours);
});

it('switches each look off behind its text, and paints nothing when there is nothing', () => {
  const { dim, red } = createStyle(true);
  expect([dim('a'), red('b'), red('')]).toEqual(['\x1b[2ma\x1b[22m', '\x1b[31mb\x1b[39m', '']);
  const plain = Object.values(createStyle(false)) as ((text: string) => string)[];
  expect(plain.map((paint) => paint('a')).join('')).toBe('aaaaaa');
});
