import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { listDirTool, type ListDirResult } from '@celestea/tools';
import { expect, test } from 'vitest';

import { failureOf, freshFolder, outputOf } from './support/folder.ts';

test('list_dir gives the entries sorted by name, with kind and size', async () => {
  const folder = freshFolder({ 'b.txt': 'four', 'a/x.txt': '', 'B.txt': '', '.env': 'é' });
  symlinkSync('b.txt', join(folder, 'link'));
  expect(await listDirTool(folder).execute({})).toEqual({
    path: '.',
    entries: [
      { name: '.env', kind: 'file', bytes: 2 },
      { name: 'B.txt', kind: 'file', bytes: 0 },
      { name: 'a', kind: 'folder' },
      { name: 'b.txt', kind: 'file', bytes: 4 },
      { name: 'link', kind: 'link' },
    ],
    total_entries: 5,
    truncated: false,
  });
});

test.each([undefined, null, {}, { path: '.' }, { path: './' }, { path: 'a/..' }])(
  'list_dir without a path, or with the root: %j',
  async (args) => {
    const folder = freshFolder({ 'a/x.txt': '' });
    expect(await outputOf(listDirTool(folder), args)).toMatchObject({
      value: { path: '.', entries: [{ name: 'a' }] },
    });
  },
);

test('list_dir shows a path with forward slashes, relative to the root', async () => {
  const folder = freshFolder({ 'a/b/c.txt': '' });
  mkdirSync(join(folder, 'a', 'empty'));
  const tool = listDirTool(folder);
  expect(await tool.execute({ path: './a//b/' })).toMatchObject({ path: 'a/b', total_entries: 1 });
  expect(await tool.execute({ path: 'a/empty' })).toMatchObject({ entries: [], truncated: false });
});

test('list_dir gives 500 entries at most and says what was left out', async () => {
  const names = Array.from({ length: 503 }, (_, index) => `f${String(index).padStart(3, '0')}`);
  const folder = freshFolder(Object.fromEntries(names.map((name) => [name, ''])));
  const result = (await listDirTool(folder).execute({})) as ListDirResult;
  expect(result.entries.map(({ name }) => name)).toEqual(names.slice(0, 500));
  expect(result).toMatchObject({
    total_entries: 503,
    truncated: true,
    note: 'the last 3 entries were left out',
  });
});

test.each<[unknown, string]>([
  [{ path: 5 }, 'path: expected a string, got 5'],
  [{ path: '' }, 'path: expected at least 1 characters, got ""'],
  [{ folder: 'a' }, 'arguments: expected only path, got "folder"'],
  [JSON.parse('{"__proto__": {"path": "a"}}'), 'arguments: expected only path, got "__proto__"'],
])('list_dir refuses arguments that do not fit: %j', async (args, text) => {
  expect(await failureOf(listDirTool(freshFolder()), args)).toContain(text);
});

test('X2 list_dir stops when its signal aborts', async () => {
  const tool = listDirTool(freshFolder());
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(tool.execute({}, { signal })).rejects.toThrow('enough');
});

test('C3.3 the form for people counts', async () => {
  const tool = listDirTool(freshFolder({ a: '', b: '' }));
  const outcome = await tool.executeWith?.({ call_id: 'x', name: 'list_dir', args: {} });
  expect(outcome?.render).toBe('.: 2 entries');
});
