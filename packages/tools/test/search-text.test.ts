import { symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

import { DefaultToolRegistry, fileTools, searchTextTool } from '@celestea/tools';
import type { SearchTextResult } from '@celestea/tools';
import { describe, expect, test } from 'vitest';

import { call } from './support/doubles.ts';
import { failureOf, freshFolder } from './support/folder.ts';

async function search(
  files: Record<string, string | Uint8Array>,
  args: Record<string, unknown>,
): Promise<SearchTextResult> {
  return (await searchTextTool(freshFolder(files)).execute(args)) as SearchTextResult;
}

const places = ({ matches }: SearchTextResult): string[] =>
  matches.map(({ path, line }) => `${path}:${String(line)}`);

describe('search_text finds lines', () => {
  test('with file, line number and text, sorted', async () => {
    const files = {
      'b.txt': 'x\r\nthe word\r\n',
      'a/z.txt': 'word',
      'a.txt': 'word word\nno\nword',
      'B.txt': 'word',
    };
    expect(await search(files, { query: 'word' })).toEqual({
      query: 'word',
      matches: [
        { path: 'B.txt', line: 1, text: 'word' },
        { path: 'a/z.txt', line: 1, text: 'word' },
        { path: 'a.txt', line: 1, text: 'word word' },
        { path: 'a.txt', line: 3, text: 'word' },
        { path: 'b.txt', line: 2, text: 'the word' },
      ],
      files_searched: 4,
      truncated: false,
    });
  });

  test('the text is literal, never a regular expression', async () => {
    const files = { 'a.txt': 'aaa\na.c(*)[x]$\nabc' };
    expect(places(await search(files, { query: 'a.c(*)[x]$' }))).toEqual(['a.txt:2']);
    expect(places(await search(files, { query: '(a+)+$' }))).toEqual([]);
    expect(places(await search(files, { query: '.' }))).toEqual(['a.txt:2']);
  });

  test('ignore_case', async () => {
    const files = { 'a.txt': 'Straße\nSTRASSE\nÉCOLE\nİx' };
    expect(places(await search(files, { query: 'école' }))).toEqual([]);
    expect(places(await search(files, { query: 'STRASSE' }))).toEqual(['a.txt:2']);
    const either = { ignore_case: true };
    expect(places(await search(files, { query: 'école', ...either }))).toEqual(['a.txt:3']);
    expect(places(await search(files, { query: 'X', ...either }))).toEqual(['a.txt:4']);
  });

  test('in a folder or a single file', async () => {
    const files = { 'a/1.txt': 'x', 'a/b/2.txt': 'x', 'c.txt': 'x' };
    expect(places(await search(files, { query: 'x', path: 'a' }))).toEqual([
      'a/1.txt:1',
      'a/b/2.txt:1',
    ]);
    expect(places(await search(files, { query: 'x', path: './c.txt' }))).toEqual(['c.txt:1']);
  });

  test('a long line is shown around the match, not cut within a character', async () => {
    const line = `${'😀'.repeat(500)}needle${'😀'.repeat(500)}`;
    const [match] = (await search({ 'a.txt': line }, { query: 'needle' })).matches;
    expect(match?.text).toMatch(/^…(?:😀)+needle(?:😀)+…$/u);
    expect(match?.text.length).toBeLessThanOrEqual(243);
    const end = await search({ 'a.txt': `${'x'.repeat(1_000)}needle` }, { query: 'needle' });
    expect(end.matches[0]?.text).toBe(`…${'x'.repeat(234)}needle`);
    const start = await search({ 'a.txt': `needle${'x'.repeat(1_000)}` }, { query: 'needle' });
    expect(start.matches[0]?.text).toBe(`needle${'x'.repeat(234)}…`);
  });
});

describe('search_text is bounded', () => {
  const lines = { 'a.txt': 'x\n'.repeat(150), 'b.txt': 'x\n'.repeat(1_000) };

  test('100 lines by default, and the note says there are more', async () => {
    const result = await search(lines, { query: 'x' });
    expect(result.matches).toHaveLength(100);
    expect(result).toMatchObject({
      truncated: true,
      files_searched: 1,
      note:
        'stopped after 100 lines, there are more; ' +
        'narrow the query or the path, or raise max_results',
    });
  });

  test('max_results, exactly met, is not cut', async () => {
    const one = { query: 'x', path: 'a.txt' };
    expect(await search(lines, { ...one, max_results: 150 })).toMatchObject({ truncated: false });
    expect(await search(lines, { ...one, max_results: 149 })).toMatchObject({ truncated: true });
    const most = await search(lines, { query: 'x', max_results: 1_000 });
    expect(most.matches).toHaveLength(1_000);
    expect(most.matches.at(-1)).toEqual({ path: 'b.txt', line: 850, text: 'x' });
  });
});

describe('search_text skips', () => {
  test('node_modules, .git and dist at any depth, unless the path names one', async () => {
    const files = {
      'node_modules/m/a.js': 'x',
      '.git/HEAD': 'x',
      'packages/p/dist/a.js': 'x',
      'packages/p/node_modules/a.js': 'x',
      'packages/p/distance.js': 'x',
      'dist.txt': 'x',
    };
    const result = await search(files, { query: 'x' });
    expect(places(result)).toEqual(['dist.txt:1', 'packages/p/distance.js:1']);
    expect(result.note).toBeUndefined();
    expect(places(await search(files, { query: 'x', path: 'packages/p/dist' }))).toEqual([
      'packages/p/dist/a.js:1',
    ]);
  });

  test('binary and huge files, and says how many', async () => {
    const folder = freshFolder({ 'a.txt': 'x', 'b.bin': 'x\0', 'c.txt': 'x', 'd.txt': 'x' });
    truncateSync(join(folder, 'c.txt'), 2 ** 40);
    const result = await searchTextTool(folder).execute({ query: 'x' });
    expect(result).toMatchObject({
      matches: [{ path: 'a.txt' }, { path: 'd.txt' }],
      files_searched: 2,
      note: '2 binary, oversized or unreadable entries were not searched',
    });
    const huge = { 'a.txt': 'x'.repeat(2 ** 21), 'b.txt': `${'x'.repeat(2 ** 21)}y` };
    expect(await search(huge, { query: 'x' })).toMatchObject({ matches: [{ path: 'a.txt' }] });
  });

  test('links, so that no file comes twice', async () => {
    const folder = freshFolder({ 'a/1.txt': 'x' });
    symlinkSync('a', join(folder, 'b'));
    symlinkSync('..', join(folder, 'a', 'up'));
    symlinkSync('a/1.txt', join(folder, 'c.txt'));
    const result = (await searchTextTool(folder).execute({ query: 'x' })) as SearchTextResult;
    expect(places(result)).toEqual(['a/1.txt:1']);
  });
});

test.each<[Record<string, unknown>, string]>([
  [{}, 'query: expected a string, got nothing'],
  [{ query: '' }, 'query: expected at least 1 characters, got ""'],
  [{ query: 5 }, 'query: expected a string, got 5'],
  [{ query: 'a\nb' }, 'query: expected text on one line, got several lines'],
  [{ query: 'x'.repeat(1_001) }, 'query: expected at most 1000 characters, got a string'],
  [{ query: 'x', ignore_case: 'yes' }, 'ignore_case: expected true or false, got "yes"'],
  [{ query: 'x', max_results: 0 }, 'max_results: expected a number >= 1, got 0'],
  [{ query: 'x', regex: true },
    'arguments: expected only query, path, ignore_case, max_results, got "regex"'],
  [{ query: 'x', path: 'missing' }, 'path: "missing" does not exist'],
])('search_text refuses arguments that do not fit (%#)', async (args, text) => {
  expect(await failureOf(searchTextTool(freshFolder()), args)).toContain(text);
});

test('X2 search_text stops between files', async () => {
  const tool = searchTextTool(freshFolder({ 'a.txt': 'x', 'b.txt': 'x', 'c.txt': 'x' }));
  const aborted = AbortSignal.abort(new Error('enough'));
  await expect(tool.execute({ query: 'x' }, { signal: aborted })).rejects.toThrow('enough');
  let asked = 0;
  const signal = {
    throwIfAborted: () => {
      asked += 1;
      if (asked > 3) throw new Error('enough');
    },
  } as AbortSignal;
  await expect(tool.execute({ query: 'x' }, { signal })).rejects.toThrow('enough');
  expect(asked).toBe(4);
});

test('C3.7 through a registry the file tools give results, and errors as data', async () => {
  const registry = new DefaultToolRegistry();
  for (const tool of fileTools(freshFolder({ 'a.txt': 'x' }))) registry.register(tool);
  expect(registry.schemas().map(({ name }) => name)).toEqual([
    'list_dir',
    'read_file',
    'search_text',
  ]);
  const found = await registry.dispatch(call('search_text', { query: 'x' }));
  expect(found).toMatchObject({ error: null, render: '"x": 1 line' });
  const output = await registry.dispatch(call('read_file', { path: '../x' }));
  expect(output).toMatchObject({
    value: null,
    error: 'path: expected a path within the root, got "../x", which leads outside',
  });
});
