import { chmodSync, chownSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { say, ScriptedLlm } from '@celestea/agent-loop/testing';
import { describe, expect, test } from 'vitest';

import type { CliParts } from '../src/index.ts';
import { freshFolder } from './support/folder.ts';
import { sessionNames } from './support/session.ts';
import { refused, serve } from './support/served.ts';

const TOKEN = 'a-token-that-nobody-guesses-0123456789';

const hello = (): CliParts => ({ model: { name: 'scripted', llm: new ScriptedLlm([say('Hi.')]) } });

const tokenFile = (text: string, mode = 0o600): string => {
  const path = join(freshFolder({ token: text }), 'token');
  chmodSync(path, mode);
  return path;
};

test.each([['elsewhere', '../token'], ['with the sessions', '.celestea/token']])(
  'a file of its own keeps it, for its owner alone: %s',
  async (_, file) => {
    const cwd = join(freshFolder({ 'root/a': '' }), 'root');
    const first = await serve(cwd, ['--token-file', file], hello());
    expect(statSync(join(cwd, file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(cwd, file), 'utf8')).toBe(`${first.token}\n`);
    expect(readFileSync(join(cwd, '.celestea/.gitignore'), 'utf8')).toBe('*\n');
    await first.end();
    const second = await serve(cwd, ['--token-file', file], hello());
    expect(second.token).toBe(first.token);
    expect((await second.get('/api/sessions')).status).toBe(200);
  },
);

test('without a file it is another one each time', async () => {
  const [first, second] = [await serve(freshFolder()), await serve(freshFolder())];
  expect(first.token).toMatch(/^[\w-]{43}$/);
  expect(second.token).not.toBe(first.token);
});

test('the environment may have it, and a file goes before that', async () => {
  const file = tokenFile(`${TOKEN}-of-the-file`);
  const env = { CELESTEA_TOKEN: TOKEN };
  expect((await serve(freshFolder(), [], hello(), { env })).token).toBe(TOKEN);
  const other = await serve(freshFolder(), [`--token-file=${file}`], hello(), { env });
  expect(other.token).toBe(`${TOKEN}-of-the-file`);
});

test.each([
  ['too short', 'short', /--token-file: expected a token, .* got another text in ".*token"/],
  ['empty', '', /--token-file: expected a token/],
  ['two words', `${TOKEN} ${TOKEN}`, /--token-file: expected a token/],
])('a file that is %s is misuse, and what is in it is not shown', async (_, text, message) => {
  const cwd = freshFolder();
  const { code, stderr } = await refused(cwd, ['--token-file', tokenFile(text)]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
  if (text !== '') expect(stderr).not.toContain(text);
  expect(sessionNames(cwd)).toEqual([]);
});

test('nor is a wrong one of the environment', async () => {
  const { code, stderr } = await refused(freshFolder(), [], { CELESTEA_TOKEN: 'sesame' });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^celestea: CELESTEA_TOKEN: expected a token, /);
  expect(stderr).not.toContain('sesame');
});

test.each([
  ['a folder', '.', 'expected a file, but'],
  ['in a folder that is not there', 'no/token', 'ENOENT'],
])('a file that is %s is misuse', async (_, file, message) => {
  const { code, stderr } = await refused(freshFolder(), ['--token-file', file]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

describe('a file that the agent can read is misuse', () => {
  const message = /--token-file: ".*" lies in the folder that the agent reads and writes: put it/;

  test.each([
    ['there', 'token', { token: TOKEN }],
    ['to be made', 'new', {}],
    ['further down', 'sub/.celestea/token', { 'sub/.celestea/token': TOKEN }],
    ['beside the sessions by name alone', '.celestea-token', {}],
  ])('%s', async (_, file, files) => {
    const cwd = freshFolder(files);
    if (existsSync(join(cwd, file))) chmodSync(join(cwd, file), 0o600);
    const { code, stderr } = await refused(cwd, ['--token-file', file]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain(TOKEN);
  });

  test('by a link from outside, or from the home of the sessions', async () => {
    const top = freshFolder({ 'root/token': TOKEN, 'root/.celestea/a': '' });
    const root = join(top, 'root');
    chmodSync(join(root, 'token'), 0o600);
    symlinkSync('root/token', join(top, 'link'));
    symlinkSync('root', join(top, 'way'));
    symlinkSync('../token', join(root, '.celestea', 'token'));
    for (const file of ['link', 'way/token', 'way/new', 'root/.celestea/token']) {
      const { stderr } = await refused(top, ['--root=root', '--token-file', file]);
      expect(stderr).toMatch(message);
    }
    for (const file of ['token', 'new']) {
      const { stderr } = await refused(top, ['--root=way', '--token-file', `root/${file}`]);
      expect(stderr).toMatch(message);
    }
  });

  test('not so one that lies outside, whatever link leads there', async () => {
    const cwd = freshFolder();
    symlinkSync(tokenFile(TOKEN), join(cwd, 'link'));
    expect((await serve(cwd, ['--token-file=link'], hello())).token).toBe(TOKEN);
  });
});

test.runIf(process.geteuid !== undefined).each([0o640, 0o604, 0o620, 0o602, 0o666])(
  'a file that other users can read or write is misuse: %o',
  async (mode) => {
    const file = tokenFile(TOKEN, mode);
    const { code, stderr } = await refused(freshFolder(), ['--token-file', file]);
    expect(code).toBe(2);
    expect(stderr).toContain(`can be read or written by other users: chmod 600 ${file}\n`);
    expect(stderr).not.toContain(TOKEN);
  },
);

test.runIf(process.geteuid?.() === 0)('a file of another user is misuse', async () => {
  const file = tokenFile(TOKEN);
  chownSync(file, 1234, 0);
  const { code, stderr } = await refused(freshFolder(), ['--token-file', file]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/--token-file: ".*" belongs to another user, who can read it: /);
  expect(stderr).not.toContain(TOKEN);
});
