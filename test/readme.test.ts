import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { run, type Finished } from './support/run.ts';
import {
  fences,
  markdownIn,
  root,
  snippetFolder,
  snippetPath,
  snippetsOf,
  typeErrors,
  writeSnippet,
} from './support/snippets.ts';

const readmes = readdirSync(join(root, 'packages')).map((name) =>
  join('packages', name, 'README.md'),
);
const pages = markdownIn('docs');
const recipes = pages.filter((page) => page.startsWith(join('docs', 'recipes')));

const RUNNER = 'test/support/snippet-runner.ts';
const NEVER_RUN: Finished = { exitCode: -1, stdout: '', stderr: 'it was never run' };

const snippets = ['README.md', ...pages, ...readmes].flatMap(snippetsOf);
const skipped = snippets.filter((snippet) => snippet.skipped !== null);
const runnable = snippets.filter((snippet) => snippet.skipped === null);

let folder = '';
/** What each of {@link runnable} came to. */
let finished: Finished[] = [];

// Not while the tests are collected: when none of them runs, nothing is cleaned up.
beforeAll(async () => {
  folder = snippetFolder();
  for (const snippet of snippets) writeSnippet(folder, snippet);
  const files = runnable.map((snippet) => snippetPath(folder, snippet));
  const { stdout } = await run(['--import', 'tsx', RUNNER, ...files], root);
  finished = stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line) as Finished);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('the README has snippets to run', () => {
  expect(runnable.filter(({ document }) => document === 'README.md').length).toBeGreaterThan(1);
});

/** Rules that are ours by default: what L8 names, and the defaults of the X rules. */
const DIFFERENT = [
  ...['C4.6', 'L2.6', 'L3.6', 'L4.6'],
  ...['X2', 'X3', 'X4', 'X7', 'X9', 'X11', 'X15', 'X17', 'X18', 'X32'],
];

test('L8 every rule that differs from the engine is listed in the page that README links', () => {
  const text = readFileSync(join(root, 'docs/divergences.md'), 'utf8');
  for (const rule of DIFFERENT) expect(text).toContain(`- ${rule}: `);
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain('(docs/divergences.md)');
});

test.each(runnable)('snippet $number of $document runs', (snippet) => {
  const { code, prints } = snippet;
  const { exitCode, stdout, stderr } = finished[runnable.indexOf(snippet)] ?? NEVER_RUN;
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  // A comment behind a console.log says what it prints.
  const promised = [...code.matchAll(/^ *console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line);
  for (const line of promised) expect(stdout.split('\n')).toContain(line);
  expect(stdout).toContain(prints);
});

test('every snippet that can be run here passes the type check', async () => {
  const files = runnable.map((snippet) => snippetPath(folder, snippet));
  expect(await typeErrors(folder, files)).toBe('');
});

// The report of a run lists them with their reasons.
test.skip.each(skipped)('snippet $number of $document is not run: $skipped', () => undefined);

describe('the recipes', () => {
  test('each page is in the index, and has a program', () => {
    const index = readFileSync(join(root, 'docs/recipes/README.md'), 'utf8');
    const names = recipes.map((page) => page.slice('docs/recipes/'.length));
    expect(names.length).toBeGreaterThan(9);
    for (const name of names.filter((each) => each !== 'README.md')) {
      expect(index).toContain(`(${name})`);
      const own = runnable.filter(({ document }) => document === `docs/recipes/${name}`);
      expect({ name, programs: own.length > 0 }).toEqual({ name, programs: true });
    }
  });

  test('what is not run is a server of a framework that is not installed', () => {
    const documents = new Set(skipped.map(({ document }) => document));
    expect([...documents]).toEqual(['docs/recipes/hosts.md']);
    expect(skipped.map((snippet) => snippet.skipped?.split(' ')[0])).toEqual([
      'Express',
      'Fastify',
    ]);
  });
});

test('every link between the pages leads to a file', () => {
  const broken = ['README.md', 'CONTRIBUTING.md', 'REVIEW.md', ...pages].flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```[^]*?^```/gm, '');
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, to = '']) => to);
    return targets.filter((to) => !existsSync(join(root, dirname(page), to))).map((to) => [page, to]);
  });
  expect(broken).toEqual([]);
});

test('the first command of the README runs a turn', async () => {
  const commands = fences('README.md', 'sh').map(({ code }) => code).join('');
  const question = /^npx -y pnpm@10 start "(.*)"$/m.exec(commands)?.[1] ?? '';
  expect(question).not.toBe('');
  const { exitCode, stdout } = await run(
    ['--import', 'tsx', 'packages/cli/src/main.ts', '--no-session', question],
    root,
  );
  expect(stdout).toContain('completed');
  expect(exitCode).toBe(0);
});
