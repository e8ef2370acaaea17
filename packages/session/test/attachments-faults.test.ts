import { execFileSync } from 'node:child_process';
import type * as files from 'node:fs/promises';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { FileAttachmentStore } from '@celestea/session';
import { afterEach, expect, test, vi } from 'vitest';

import { openDescriptors } from './support/descriptors.ts';
import { testFolder } from './support/folder.ts';
import { kept, PICTURE } from './support/kept-picture.ts';

const disk = vi.hoisted(() => ({
  /** What it was asked for, in order. */
  trace: [] as string[],
  /** What it refuses from now on, and the code it gives. */
  refused: new Map<string, string>(),
  /** What happens right before it does something. */
  before: new Map<string, () => void>(),
}));

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof files>();
  const asked = (what: string): void => {
    disk.trace.push(what);
    disk.before.get(what)?.();
    const code = disk.refused.get(what);
    if (code !== undefined) throw Object.assign(new Error(`${code}: ${what}`), { code });
  };
  return {
    ...real,
    lstat: async (path: string) => {
      asked('lstat');
      return real.lstat(path);
    },
    rename: async (from: string, to: string) => {
      asked('rename');
      return real.rename(from, to);
    },
    open: async (path: string, flags: string | number) => {
      const kind = flags === 'wx' ? 'file' : flags === 'r' ? 'folder' : 'picture';
      asked(`open ${kind}`);
      const handle = await real.open(path, flags);
      const writeFile = handle.writeFile.bind(handle);
      const sync = handle.sync.bind(handle);
      return Object.assign(handle, {
        writeFile: async (...given: Parameters<typeof writeFile>) => {
          asked(`write ${kind}`);
          return writeFile(...given);
        },
        sync: async () => {
          asked(`sync ${kind}`);
          return sync();
        },
      });
    },
  };
});

afterEach(() => {
  disk.trace.length = 0;
  disk.refused.clear();
  disk.before.clear();
});

test('a picture gets its name when all of it is on the disk, and the name is then', async () => {
  const store = new FileAttachmentStore(join(testFolder(), 'a', 'attachments'));
  await store.put(PICTURE);
  expect(disk.trace).toEqual([
    ...['open folder', 'sync folder', 'open folder', 'sync folder'], // two that are new
    ...['lstat', 'open file', 'write file', 'sync file', 'rename'],
    ...['open folder', 'sync folder'],
  ]);
});

test('a picture that is put many times at once, and later, is written once', async () => {
  const store = new FileAttachmentStore(testFolder());
  await Promise.all([store.put(PICTURE), store.put(PICTURE), store.put(PICTURE)]);
  await store.put(PICTURE);
  expect(disk.trace.filter((what) => what === 'write file')).toHaveLength(1);
  expect(disk.trace.filter((what) => what === 'rename')).toHaveLength(1);
});

test.each([
  ['open file', 'EACCES'],
  ['open file', 'EMFILE'],
  ['write file', 'ENOSPC'],
  ['sync file', 'EIO'],
  ['rename', 'EROFS'],
  ['sync folder', 'EIO'],
])('when the disk fails at %s, put says so, and nothing is left open', async (what, code) => {
  const store = new FileAttachmentStore(testFolder());
  const before = openDescriptors();
  disk.refused.set(what, code);
  const puts = await Promise.allSettled([store.put(PICTURE), store.put(PICTURE)]);
  for (const put of puts) {
    expect(put).toMatchObject({ status: 'rejected', reason: { cause: { code } } });
    const message = `.png: the picture cannot be kept: ${code}: ${what}`;
    expect(String((put as PromiseRejectedResult).reason)).toContain(message);
  }
  expect(readdirSync(store.folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  disk.refused.clear();
  const ref = await store.put(PICTURE);
  expect(await store.read(ref)).toEqual(PICTURE);
  expect(openDescriptors()).toBe(before);
});

test('a platform that syncs no folder is none to stop for', async () => {
  const store = new FileAttachmentStore(testFolder());
  const refused = { 'open folder': 'EISDIR', 'sync folder': 'EPERM' };
  for (const [what, code] of Object.entries(refused)) {
    disk.refused.set(what, code);
    expect(await store.put(PICTURE)).toMatchObject({ width: 7 });
  }
});

const faults = ['EACCES', 'EIO', 'EMFILE'];

test.each(faults)('a file that cannot be read is not missing: %s', async (code) => {
  const { store, ref, path } = await kept();
  disk.refused.set('open picture', code);
  const message = `${path}: the picture cannot be read: ${code}: open picture`;
  await expect(store.read(ref)).rejects.toThrow(new Error(message));
  // Whether it is sound nobody can say, so that it is written again.
  disk.trace.length = 0;
  expect(await store.put(PICTURE)).toEqual(ref);
  expect(disk.trace).toContain('rename');
});

const swaps: readonly [string, (path: string) => void][] = [
  ['nothing', () => undefined],
  ['a folder', mkdirSync],
  ['a pipe', (path) => execFileSync('mkfifo', [path], { stdio: 'ignore' })],
  [
    'a link to the same picture',
    (path) => {
      writeFileSync(`${path}.part`, PICTURE);
      symlinkSync(`${path}.part`, path);
    },
  ],
];

test.skipIf(process.platform === 'win32').each(swaps)(
  'a file that is swapped for %s when it was looked at reads as missing',
  async (_, swap) => {
    const { store, ref, path } = await kept();
    const before = openDescriptors();
    disk.before.set('open picture', () => {
      rmSync(path);
      swap(path);
    });
    expect(await store.read(ref)).toBe(null);
    expect(openDescriptors()).toBe(before);
  },
);
