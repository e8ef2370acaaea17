import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

import { fileTools, listDirTool, readFileTool, searchTextTool } from '@celestea/tools';
import { beforeEach, describe, expect, test } from 'vitest';

import { failureOf, freshFolder, put } from './support/folder.ts';

const SECRET = 'the secret';

let root = '';
let outside = '';

beforeEach(() => {
  const top = freshFolder();
  root = join(top, 'root');
  outside = join(top, 'root-next-door');
  put(join(root, 'in.txt'), 'inside');
  put(join(root, 'folder', 'deep.txt'), 'inside');
  put(join(outside, 'secret.txt'), SECRET);
});

/** What each of the three tools says of a path. */
async function refusals(path: string): Promise<string[]> {
  const texts = await Promise.all([
    failureOf(listDirTool(root), { path }),
    failureOf(readFileTool(root), { path }),
    failureOf(searchTextTool(root), { path, query: 'secret' }),
  ]);
  // Where the root stands, and what is outside, is none of the model's business.
  for (const text of texts) expect(text.replaceAll(JSON.stringify(path), '')).not.toContain(root);
  return texts;
}

const within = /^path: expected a path within the root, got ".*", which leads outside$/;

describe('no path leads out of the root', () => {
  test.each([
    '..',
    '../',
    '../root-next-door',
    '../root-next-door/secret.txt',
    'folder/../../root-next-door/secret.txt',
    './folder/.././../root-next-door/./secret.txt',
    'nowhere/../../root-next-door/secret.txt',
    'in.txt/../../root-next-door/secret.txt',
    '../../../../../../../../../../../../etc/passwd',
    '../ROOT/in.txt',
    '../Root/in.txt',
  ])('`..` is refused: %s', async (path) => {
    for (const text of await refusals(path)) expect(text).toMatch(within);
  });

  test('an absolute path is refused, even one that lies within', async () => {
    for (const path of ['/', '/etc/passwd', '//etc/passwd', outside, join(root, 'in.txt')]) {
      for (const text of await refusals(path)) {
        expect(text).toMatch(/^path: expected a path relative to the root, got "/);
      }
    }
  });

  test('a NUL is refused', async () => {
    for (const path of ['\0', 'in.txt\0', 'in.txt\0.png', '../root-next-door\0/x']) {
      for (const text of await refusals(path)) {
        expect(text).toMatch(/^path: expected a path without NUL characters, got "/);
      }
    }
  });

  test.each(['~/.ssh', '%2e%2e/root-next-door', '..%2froot-next-door', 'file:///etc/passwd',
    '..\\root-next-door', 'C:\\Windows', '․․/root-next-door', '.../x', 'IN.TXT', 'Folder'])(
    'what only looks like a way out is a name that does not exist: %s',
    async (path) => {
      for (const text of await refusals(path)) {
        expect(text).toBe(`path: ${JSON.stringify(path)} does not exist`);
      }
    },
  );

  test('a link to a file or a folder outside is refused, absolute or relative', async () => {
    symlinkSync(join(outside, 'secret.txt'), join(root, 'file'));
    symlinkSync('../root-next-door/secret.txt', join(root, 'relative'));
    symlinkSync(outside, join(root, 'out'));
    symlinkSync('..', join(root, 'folder', 'up'));
    symlinkSync('folder/up/out', join(root, 'chain'));
    symlinkSync('/', join(root, 'all'));
    const paths = ['file', 'relative', 'out', 'out/secret.txt', 'chain', 'chain/secret.txt',
      'folder/up/out/secret.txt', 'all', 'all/etc/passwd', 'out/../out/secret.txt'];
    for (const path of paths) {
      for (const text of await refusals(path)) expect(text).toMatch(within);
    }
  });

  test('below a link outside, what is missing reads the same as what is there', async () => {
    symlinkSync(outside, join(root, 'out'));
    for (const path of ['out/missing', 'out/missing/deeper', 'out/secret.txt/x']) {
      for (const text of await refusals(path)) expect(text).toMatch(within);
    }
  });

  test('a search from the root does not walk through links', async () => {
    symlinkSync(outside, join(root, 'out'));
    symlinkSync(join(outside, 'secret.txt'), join(root, 'file'));
    symlinkSync('.', join(root, 'circle'));
    const result = await searchTextTool(root).execute({ query: 'i' });
    expect(result).toMatchObject({
      files_searched: 2,
      matches: [{ path: 'folder/deep.txt' }, { path: 'in.txt' }],
    });
    expect(JSON.stringify(result)).not.toContain(SECRET);
  });

  test('a folder lists a link as a link, and not where it leads', async () => {
    symlinkSync(outside, join(root, 'out'));
    const result = await listDirTool(root).execute({});
    expect(result).toMatchObject({ entries: [{}, {}, { name: 'out', kind: 'link' }] });
    expect(JSON.stringify(result)).not.toContain('next-door');
  });
});

describe('what stays within the root is fine', () => {
  test('a link inside that leads inside, and `..` that comes back', async () => {
    symlinkSync('folder/deep.txt', join(root, 'link'));
    symlinkSync('folder', join(root, 'way'));
    symlinkSync(join(root, 'in.txt'), join(root, 'folder', 'back'));
    const paths = ['link', 'way/deep.txt', 'folder/back', 'way/back', 'folder/../in.txt',
      `../${basename(root)}/in.txt`];
    for (const path of paths) {
      expect(await readFileTool(root).execute({ path })).toMatchObject({ text: 'inside' });
    }
    expect(await readFileTool(root).execute({ path: './folder//../way/deep.txt' })).toMatchObject({
      path: 'way/deep.txt',
    });
    expect(await listDirTool(root).execute({ path: 'way' })).toMatchObject({ path: 'way' });
    expect(await searchTextTool(root).execute({ path: 'way', query: 'inside' })).toMatchObject({
      matches: [{ path: 'way/deep.txt', line: 1, text: 'inside' }],
    });
  });

  test('names that start with dots are names', async () => {
    for (const path of ['..hidden', '...', '.env']) {
      put(join(root, path), 'inside');
      expect(await readFileTool(root).execute({ path })).toMatchObject({ path, text: 'inside' });
    }
  });

  test('a hard link is the file itself', async () => {
    linkSync(join(root, 'in.txt'), join(root, 'hard.txt'));
    expect(await readFileTool(root).execute({ path: 'hard.txt' })).toMatchObject({
      text: 'inside',
    });
  });

  test('a link in the path of the root is resolved once', async () => {
    const link = join(outside, '..', 'alias');
    symlinkSync(root, link);
    const [, read] = fileTools(link);
    rmSync(link);
    symlinkSync(outside, link);
    expect(await read?.execute({ path: 'in.txt' })).toMatchObject({ text: 'inside' });
  });

  test('a root that became a link itself is refused', async () => {
    const read = readFileTool(root);
    rmSync(root, { recursive: true });
    symlinkSync(outside, root);
    expect(await failureOf(read, { path: 'secret.txt' })).toMatch(within);
  });

  test('the whole file system can be the root', async () => {
    const path = resolve(root, 'in.txt').slice(1);
    expect(await readFileTool('/').execute({ path })).toMatchObject({ path, text: 'inside' });
  });
});

describe('what stands at a path', () => {
  test('a folder is no file, a file no folder, and the error says which', async () => {
    expect(await failureOf(readFileTool(root), { path: 'folder' })).toBe(
      'path: expected a file, got "folder", which is a folder',
    );
    expect(await failureOf(listDirTool(root), { path: 'in.txt' })).toBe(
      'path: expected a folder, got "in.txt", which is a file',
    );
    expect(await failureOf(readFileTool(root), { path: 'in.txt/x' })).toBe(
      'path: "in.txt/x" goes through something that is not a folder',
    );
  });

  test('a named pipe is refused, and nobody waits for its writer', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')], { stdio: 'ignore' });
    expect(await failureOf(readFileTool(root), { path: 'pipe' })).toBe(
      'path: expected a file, got "pipe", which is neither a file nor a folder',
    );
    expect(await listDirTool(root).execute({})).toMatchObject({
      entries: [{}, {}, { name: 'pipe', kind: 'other' }],
    });
  });

  test('links that lead nowhere or in a circle are errors', async () => {
    symlinkSync('nowhere', join(root, 'dangling'));
    symlinkSync('circle', join(root, 'circle'));
    for (const text of await refusals('dangling')) {
      expect(text).toBe('path: "dangling" does not exist');
    }
    for (const text of await refusals('circle')) {
      expect(text).toBe('path: "circle" is a symbolic link that may not be followed');
    }
  });

  test('a path that is too long is an error that is not', async () => {
    for (const path of ['x'.repeat(300), 'x/'.repeat(2_000)]) {
      for (const text of await refusals(path)) expect(text.length).toBeLessThan(300);
    }
    const text = await failureOf(readFileTool(root), { path: 'x'.repeat(5_000) });
    expect(text).toContain('path: expected at most 4096 characters, got a string');
  });
});

test('a root that is no folder is refused when the tools are made', () => {
  for (const make of [fileTools, listDirTool, readFileTool, searchTextTool]) {
    for (const bad of [undefined, null, 5, '', 'a\0b']) {
      expect(() => make(bad as never)).toThrow(TypeError);
    }
    expect(() => make(join(root, 'missing'))).toThrow('got nothing that exists');
    expect(() => make(join(root, 'in.txt'))).toThrow('root: expected a folder at "');
  }
  mkdirSync(join(root, 'empty'));
  expect(fileTools(join(root, 'empty')).map((tool) => tool.spec().name)).toEqual([
    'list_dir',
    'read_file',
    'search_text',
  ]);
});
