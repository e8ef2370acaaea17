import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { fileTools, listDirTool, readFileTool, searchTextTool, workTools } from '@celestea/tools';
import { beforeEach, describe, expect, test } from 'vitest';

import { failureOf, freshFolder } from './support/folder.ts';
import { toolNamed } from './support/work.ts';

const REFUSAL = 'path: ".celestea" holds the sessions and is not for tools';

let root = '';

beforeEach(() => {
  root = freshFolder({
    'in.txt': 'tea',
    '.celestea/token': 'tea',
    '.celestea/sessions/a.jsonl': 'tea',
    'sub/.celestea/sessions/b.jsonl': 'tea',
  });
});

const writing = () => toolNamed(workTools(root, { ask: false }), 'write_file');

/** What each of the four file tools says of a path. */
async function refusals(path: string): Promise<string[]> {
  const before = readdirSync(root, { recursive: true });
  const texts = [
    await failureOf(listDirTool(root), { path }),
    await failureOf(readFileTool(root), { path }),
    await failureOf(searchTextTool(root), { path, query: 'tea' }),
    await failureOf(writing(), { path, content: 'x', create_folders: true }),
  ];
  expect(readdirSync(root, { recursive: true })).toEqual(before);
  return texts;
}

const refusedByAll = Array.from({ length: 4 }, () => REFUSAL);

describe('no file tool reaches the home of the sessions', () => {
  test.each([
    '.celestea',
    './sub/../.celestea',
    '.celestea/token',
    '.celestea/sessions',
    '.celestea/sessions/a.jsonl',
    '.celestea/sessions/none.jsonl',
    '.celestea/none/none',
    '.celestea/token/none',
  ])('by its path: %s', async (path) => {
    expect(await refusals(path)).toEqual(refusedByAll);
  });

  test('by a link, which may lead to it or below it', async () => {
    symlinkSync('.celestea', join(root, 'home'));
    symlinkSync(join(root, '.celestea', 'sessions'), join(root, 'sub', 'sessions'));
    symlinkSync('sub/sessions', join(root, 'chain'));
    const paths = ['home/token', 'home/sessions', 'sub/sessions/a.jsonl', 'chain/a.jsonl',
      'chain/none.jsonl', 'home/none/none'];
    for (const path of paths) expect(await refusals(path)).toEqual(refusedByAll);
  });

  test('where the home is a link itself', async () => {
    mkdirSync(join(root, 'data'));
    renameSync(join(root, '.celestea'), join(root, 'data', 'home'));
    symlinkSync('data/home', join(root, '.celestea'));
    for (const path of ['.celestea/token', 'data/home/token', 'data/home/none', 'data/home']) {
      expect(await refusals(path)).toEqual(refusedByAll);
    }
    const found = await searchTextTool(root).execute({ query: 'tea' });
    expect(found).toMatchObject({ matches: [{ path: 'in.txt' }] });
  });

  test('by a run of a command in it', async () => {
    const run = toolNamed(workTools(root, { ask: false }), 'run_command');
    const text = await failureOf(run, { command: ['ls'], cwd: '.celestea' });
    expect(text).toBe(REFUSAL.replace('path: ', 'cwd: '));
  });

  test('when a search or a listing starts above it', async () => {
    expect(await listDirTool(root).execute({})).toMatchObject({
      entries: [{ name: 'in.txt' }, { name: 'sub' }],
      total_entries: 2,
    });
    const found = await searchTextTool(root).execute({ query: 'tea' });
    expect(found).toMatchObject({ files_searched: 1, matches: [{ path: 'in.txt' }] });
    expect(found).not.toHaveProperty('note');
  });
});

test.each(['.celestea', '.celestea/sessions/a.jsonl', '.CELESTEA/x', '.Celeſtea/x'])(
  'nothing is made where the home would be: %s',
  async (path) => {
    root = freshFolder();
    const text = await failureOf(writing(), { path, content: 'x', create_folders: true });
    expect(text).toBe(REFUSAL);
    expect(existsSync(join(root, path))).toBe(false);
  },
);

test('the home of another root, and names like its own, are as any folder', async () => {
  const read = (path: string): Promise<unknown> => readFileTool(root).execute({ path });
  expect(await read('sub/.celestea/sessions/b.jsonl')).toMatchObject({ text: 'tea' });
  for (const path of ['.celestea-x/a', '.celesteas', 'sub/.celestea/c']) {
    await writing().execute({ path, content: 'tea', create_folders: true });
    expect(await read(path)).toMatchObject({ text: 'tea' });
  }
  // Who names it as the root means it.
  const [list] = fileTools(join(root, '.celestea', 'sessions'));
  expect(await list?.execute({})).toMatchObject({ entries: [{ name: 'a.jsonl' }] });
});
