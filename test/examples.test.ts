import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { run } from './support/run.ts';

const root = join(import.meta.dirname, '..');

const promised: Record<string, RegExp> = {
  'run-turn.ts': /^completed\n\{"type":"turn_start".*"value":5.*Two and three are five\./s,
  'mount-plugin.ts': /own-model\.ts/,
  'own-model.ts': /^HELLO \nTHERE\n<done>\n<turn_end>\ncompleted\n$/,
};

test('every example is tried', () => {
  expect(readdirSync(join(root, 'examples')).sort()).toEqual(Object.keys(promised).sort());
});

test.each(Object.entries(promised))('examples/%s does what it says', async (file, output) => {
  const { exitCode, stdout, stderr } = await run(['--import', 'tsx', `examples/${file}`], root);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(output);
});
