import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';

import { workTools } from '@celestea/tools';
import { beforeEach, describe, expect, test } from 'vitest';

import { failureOf, freshFolder, put } from './support/folder.ts';
import { toolNamed } from './support/work.ts';

const SECRET = 'the secret';

let root = '';
let outside = '';

beforeEach(() => {
  const top = freshFolder({ 'root/in.txt': 'inside', 'root/folder/deep.txt': 'inside' });
  root = join(top, 'root');
  outside = join(top, 'root-next-door');
  put(join(outside, 'secret.txt'), SECRET);
});

const write = (args: unknown): Promise<unknown> =>
  toolNamed(workTools(root, { ask: false }), 'write_file').execute(args);

const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** What a write is refused with; nothing may have changed by it, inside or outside. */
async function refusal(path: string, more: object = {}): Promise<string> {
  const before = [listing(root), listing(outside)];
  const tool = toolNamed(workTools(root, { ask: false }), 'write_file');
  const text = await failureOf(tool, { path, content: 'overwritten', ...more });
  expect([listing(root), listing(outside)]).toEqual(before);
  expect(text.replaceAll(JSON.stringify(path), '')).not.toContain(root);
  return text;
}

const listing = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const holds = entry.isFile() ? readFileSync(path, 'utf8') : lstatSync(path).mode;
      return `${path} ${String(holds)}`;
    })
    .sort();

describe('write_file', () => {
  test('makes a file, and says so', async () => {
    expect(await write({ path: 'new.txt', content: 'grüße\n' })).toEqual({
      path: 'new.txt',
      bytes: 8,
      created: true,
    });
    expect(textOf('new.txt')).toBe('grüße\n');
    expect(readdirSync(root)).toEqual(['folder', 'in.txt', 'new.txt']);
  });

  test('replaces all that a file holds; an empty text is a text', async () => {
    expect(await write({ path: './folder/../in.txt', content: '' })).toEqual({
      path: 'in.txt',
      bytes: 0,
      created: false,
    });
    expect(textOf('in.txt')).toBe('');
  });

  test('keeps the mode of a file, without the set-user-id bit', async () => {
    for (const [mode, kept] of [
      [0o755, 0o755],
      [0o600, 0o600],
      [0o666, 0o666],
      [0o4755, 0o755],
    ] as const) {
      chmodSync(join(root, 'in.txt'), mode);
      await write({ path: 'in.txt', content: 'new' });
      expect(statSync(join(root, 'in.txt')).mode & 0o7777).toBe(kept);
    }
  });

  test('a new file has the mode that any new file gets', async () => {
    put(join(root, 'plain.txt'), '');
    await write({ path: 'new.txt', content: '' });
    const [plain, made] = ['plain.txt', 'new.txt'].map((name) => statSync(join(root, name)).mode);
    expect(made).toBe(plain);
  });

  test('makes folders only when it is told to', async () => {
    expect(await refusal('a/b/c.txt')).toBe(
      'path: "a/b/c.txt" lies in a folder that does not exist; ' +
        'set create_folders to true to have it made',
    );
    const args = { path: 'a/b/c.txt', content: 'x', create_folders: true };
    expect(await write(args)).toMatchObject({ path: 'a/b/c.txt', created: true });
    expect(await write({ ...args, path: 'folder/d/e.txt' })).toMatchObject({ created: true });
    expect(await write(args)).toMatchObject({ created: false });
    expect(textOf('folder/d/e.txt')).toBe('x');
  });

  test('makes at most 64 folders for a file', async () => {
    const deep = (folders: number): string => `${'d/'.repeat(folders)}x.txt`;
    expect(await refusal(deep(65), { create_folders: true })).toBe(
      `path: expected at most 64 folders to be made, got 65 for "${deep(65)}"`,
    );
    expect(await refusal(deep(2_000), { create_folders: true })).toMatch(/at most 64 .* got 2000 /);
    const args = { content: 'x', create_folders: true };
    expect(await write({ ...args, path: deep(64) })).toMatchObject({ created: true });
    // Those that are there do not count.
    const deeper = { ...args, path: `${'d/'.repeat(64)}e/x` };
    expect(await write(deeper)).toMatchObject({ created: true });
  });

  test('makes no more folders once it was cancelled', async () => {
    const controller = new AbortController();
    const watch = (): void => {
      if (existsSync(join(root, 'd'))) controller.abort(new Error('enough'));
      else setImmediate(watch);
    };
    watch();
    const tool = toolNamed(workTools(root, { ask: false }), 'write_file');
    const args = { path: `${'d/'.repeat(64)}x.txt`, content: '', create_folders: true };
    const writing = tool.execute(args, { signal: controller.signal });
    await expect(writing).rejects.toThrow('enough');
    expect(existsSync(join(root, 'd/'.repeat(64)))).toBe(false);
  });

  test('expect: new leaves what is there alone, existing makes nothing', async () => {
    expect(await refusal('in.txt', { expect: 'new' })).toBe(
      'path: expected a new file, got "in.txt", which exists already',
    );
    for (const path of ['none.txt', 'none/x.txt']) {
      expect(await refusal(path, { expect: 'existing', create_folders: true })).toBe(
        `path: expected a file that exists, got "${path}", which does not exist`,
      );
    }
    await write({ path: 'new.txt', content: 'x', expect: 'new' });
    await write({ path: 'new.txt', content: 'y', expect: 'existing' });
    expect(textOf('new.txt')).toBe('y');
    expect(await refusal('in.txt', { expect: 'maybe' })).toContain(
      'expect: expected one of ["new","existing"], got "maybe"',
    );
  });

  test('bounds the size, counted in bytes', async () => {
    const most = 4 * 2 ** 20;
    expect(await refusal('big.txt', { content: `${'x'.repeat(most - 1)}é` })).toBe(
      'content: expected at most 4194304 bytes for "big.txt", got 4194305',
    );
    const args = { path: 'big.txt', content: 'x'.repeat(most) };
    expect(await write(args)).toMatchObject({ bytes: most });
  });

  test('refuses what it cannot write as it stands', async () => {
    expect(await refusal('x', { content: 'a\ud800b' })).toContain('half of a surrogate pair');
    for (const content of [undefined, null, 5, ['x']]) {
      expect(await refusal('x', { content })).toContain('content: expected a string, got ');
    }
    expect(await refusal('x', { mode: 5 })).toContain('arguments: expected only path, content');
  });

  test('aborted before it started, it writes nothing', async () => {
    const tool = toolNamed(workTools(root, { ask: false }), 'write_file');
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(tool.execute({ path: 'x', content: '' }, { signal })).rejects.toThrow('too late');
    expect(existsSync(join(root, 'x'))).toBe(false);
  });

  test('two writes at once leave one of the two texts whole', async () => {
    const texts = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(100_000));
    await Promise.all(texts.map((content) => write({ path: 'in.txt', content })));
    expect(texts).toContain(textOf('in.txt'));
    expect(readdirSync(root)).toEqual(['folder', 'in.txt']);
  });
});

const within = /^path: expected a path within the root, got ".*", which leads outside$/;

describe('no write leads out of the root', () => {
  test.each([
    '../x.txt',
    '../root-next-door/secret.txt',
    'folder/../../root-next-door/secret.txt',
    'nowhere/../../root-next-door/secret.txt',
    '../../../../../../../../../../../../tmp/celestea-escape',
    '../ROOT/in.txt',
    '../Root/in.txt',
    '..',
  ])('`..` is refused: %s', async (path) => {
    for (const more of [{}, { create_folders: true }, { expect: 'new' }]) {
      expect(await refusal(path, more)).toMatch(within);
    }
  });

  test('an absolute path is refused, even one that lies within', async () => {
    for (const path of ['/', '/etc/passwd', join(outside, 'x'), join(root, 'in.txt')]) {
      expect(await refusal(path, { create_folders: true })).toMatch(
        /^path: expected a path relative to the root, got "/,
      );
    }
  });

  test('a NUL is refused', async () => {
    for (const path of ['\0', 'in.txt\0', 'in.txt\0.png', 'new\0/../../x']) {
      expect(await refusal(path, { create_folders: true })).toMatch(/without NUL characters/);
    }
  });

  test('a folder that is a link to outside is refused, at any depth', async () => {
    symlinkSync(outside, join(root, 'out'));
    symlinkSync('..', join(root, 'folder', 'up'));
    symlinkSync('folder/up/out', join(root, 'chain'));
    for (const path of [
      'out/secret.txt',
      'out/new.txt',
      'out/new/deep.txt',
      'out/secret.txt/x',
      'chain/new.txt',
      'folder/up/out/new.txt',
    ]) {
      expect(await refusal(path, { create_folders: true })).toMatch(within);
    }
  });

  test('a link as the file is refused, wherever it leads', async () => {
    symlinkSync(join(outside, 'secret.txt'), join(root, 'file'));
    symlinkSync(join(outside, 'new.txt'), join(root, 'dangling'));
    symlinkSync('in.txt', join(root, 'inside'));
    symlinkSync('folder', join(root, 'way'));
    for (const path of ['file', 'dangling', 'inside', 'way']) {
      for (const more of [{}, { expect: 'existing' }, { create_folders: true }]) {
        expect(await refusal(path, more)).toBe(
          `path: expected a file, got "${path}", which is a link`,
        );
      }
    }
    expect(await refusal('inside', { expect: 'new' })).toContain('which is a link');
    expect(readlinkSync(join(root, 'file'))).toBe(join(outside, 'secret.txt'));
  });

  test('a link that leads nowhere does not become a folder', async () => {
    symlinkSync(join(outside, 'made'), join(root, 'dangling'));
    expect(await refusal('dangling/x.txt', { create_folders: true })).toMatch(/^path: /);
    expect(existsSync(join(outside, 'made'))).toBe(false);
  });

  test('a folder that is a link within the root is fine', async () => {
    symlinkSync('folder', join(root, 'way'));
    expect(await write({ path: 'way/deep.txt', content: 'new' })).toEqual({
      path: 'way/deep.txt',
      bytes: 3,
      created: false,
    });
    expect(textOf('folder/deep.txt')).toBe('new');
    expect(await write({ path: `../${basename(root)}/a.txt`, content: '' })).toMatchObject({
      path: 'a.txt',
    });
  });

  test('a hard link is not written through: the other name keeps what it held', async () => {
    linkSync(join(outside, 'secret.txt'), join(root, 'hard.txt'));
    await write({ path: 'hard.txt', content: 'mine' });
    expect([textOf('hard.txt'), readFileSync(join(outside, 'secret.txt'), 'utf8')]).toEqual([
      'mine',
      SECRET,
    ]);
  });

  test('another case is another name or the same file: never another place', async () => {
    await write({ path: 'IN.TXT', content: 'loud' });
    const names = readdirSync(root).filter((name) => name.toLowerCase() === 'in.txt');
    expect(names.length === 1 ? ['loud'] : names.map(textOf).sort()).toEqual(['inside', 'loud']);
  });

  test('a root that became a link itself is refused', async () => {
    const tool = toolNamed(workTools(root, { ask: false }), 'write_file');
    rmSync(root, { recursive: true });
    symlinkSync(outside, root);
    expect(await failureOf(tool, { path: 'x.txt', content: '' })).toMatch(within);
    rmSync(root);
    expect(await failureOf(tool, { path: 'x.txt', content: '' })).toContain('does not exist');
  });
});

describe('what is no file is not replaced', () => {
  test('a folder, however it is written', async () => {
    for (const path of ['folder', '.', 'folder/..', 'folder/', 'new/', 'folder/.']) {
      expect(await refusal(path, { create_folders: true })).toMatch(
        /^path: expected a file, got ".*", which is a folder$/,
      );
    }
    expect(await refusal('in.txt/x')).toBe(
      'path: "in.txt/x" goes through something that is not a folder',
    );
  });

  test('a named pipe, and nobody waits for its reader', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')], { stdio: 'ignore' });
    expect(await refusal('pipe')).toBe(
      'path: expected a file, got "pipe", which is neither a file nor a folder',
    );
    expect(lstatSync(join(root, 'pipe')).isFIFO()).toBe(true);
  });

  // One of our own: what is tested here must never be tried on a device that somebody needs.
  test('a device', async ({ skip }) => {
    try {
      execFileSync('mknod', [join(root, 'null'), 'c', '1', '3'], { stdio: 'ignore' });
    } catch {
      skip('only some may make one');
    }
    expect(await refusal('null')).toBe(
      'path: expected a file, got "null", which is neither a file nor a folder',
    );
    expect(lstatSync(join(root, 'null')).isCharacterDevice()).toBe(true);
  });

  test('a socket', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, 'socket'), resolve));
    expect(await refusal('socket')).toContain('which is neither a file nor a folder');
    await new Promise((resolve) => server.close(resolve));
  });

  test('a path that is too long is an error that is not', async () => {
    for (const path of ['x'.repeat(300), 'x/'.repeat(2_000) + 'x', 'x'.repeat(5_000)]) {
      expect((await refusal(path, { create_folders: false })).length).toBeLessThan(400);
    }
    mkdirSync(join(root, 'long'));
    const name = 'x'.repeat(255);
    expect(await write({ path: `long/${name}`, content: '' })).toMatchObject({ created: true });
  });
});
