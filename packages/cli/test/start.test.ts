import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { freshFolder } from './support/folder.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** What `pnpm start` runs, where it runs it. */
function start(typedIn: string, ...args: string[]) {
  const { PATH = '' } = process.env;
  const options = { cwd: ROOT, env: { PATH, INIT_CWD: typedIn } };
  const command = ['--import', 'tsx', 'scripts/start.ts', ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, command, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

test('pnpm start is the command itself: what it prints and its exit code', async () => {
  const folder = freshFolder({ 'README.md': '# Tea\n' });
  expect(await start(folder, '--bogus')).toMatchObject({ code: 2, stdout: '' });
  expect(await start(folder, '--offline', 'how many lines has README.md?')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('`README.md` has 1 line.') as unknown,
    stderr: '',
  });
});
