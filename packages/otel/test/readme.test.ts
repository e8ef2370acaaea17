import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, expect, test } from 'vitest';

const home = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(home, '.snippets-'));

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

// These need the SDK, which is installed for this package alone; those marked `ts` run in the root.
const readme = readFileSync(join(home, 'README.md'), 'utf8');
const snippets = [...readme.matchAll(/^```typescript\n([^]*?)^```/gm)].map((match) => match[1] ?? '');

test('the README begins with a program', () => {
  expect(snippets).toHaveLength(1);
});

test.each(snippets)('the program of the README prints what it says', async (code) => {
  const file = join(folder, 'first.ts');
  writeFileSync(file, code);
  const run = promisify(execFile);
  const { stdout, stderr } = await run(process.execPath, ['--import', 'tsx', file], { cwd: home });
  expect(stderr).toBe('');
  const promised = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1]);
  expect(promised.length).toBeGreaterThan(1);
  expect(stdout.trim().split('\n')).toEqual(promised);
});
