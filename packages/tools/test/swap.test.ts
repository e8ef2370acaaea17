import type * as files from 'node:fs/promises';
import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { listDirTool, readFileTool, searchTextTool } from '@celestea/tools';
import { beforeEach, describe, expect, test, vi } from 'vitest';

import { failureOf, freshFolder, put } from './support/folder.ts';

/** What happens right before an operation of the file system: the attacker's turn. */
const attack = vi.hoisted(() => {
  const hooks: {
    beforeLstat(): void;
    beforeOpen(): void;
    beforeReaddir(path: string): void;
  } = {
    beforeLstat: () => undefined,
    beforeOpen: () => undefined,
    beforeReaddir: () => undefined,
  };
  return hooks;
});

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof files>();
  return {
    ...real,
    lstat: (...args: Parameters<typeof real.lstat>) => {
      attack.beforeLstat();
      return real.lstat(...args);
    },
    open: (...args: Parameters<typeof real.open>) => {
      attack.beforeOpen();
      return real.open(...args);
    },
    readdir: (...args: Parameters<typeof real.readdir>) => {
      attack.beforeReaddir(String(args[0]));
      return real.readdir(...args);
    },
  };
});

let root = '';
let outside = '';

beforeEach(() => {
  attack.beforeLstat = () => undefined;
  attack.beforeOpen = () => undefined;
  attack.beforeReaddir = () => undefined;
  const top = freshFolder({ 'root/folder/a.txt': 'inside', 'outside/a.txt': 'the secret' });
  root = join(top, 'root');
  outside = join(top, 'outside');
});

const swapFolder = (): void => {
  renameSync(join(root, 'folder'), join(root, 'moved'));
  symlinkSync(outside, join(root, 'folder'));
};

describe('a swap between check and use', () => {
  test('a link in place of the file is not followed', async () => {
    attack.beforeOpen = () => {
      rmSync(join(root, 'folder', 'a.txt'));
      symlinkSync(join(outside, 'a.txt'), join(root, 'folder', 'a.txt'));
    };
    expect(await failureOf(readFileTool(root), { path: 'folder/a.txt' })).toBe(
      'path: "folder/a.txt" is a symbolic link that may not be followed',
    );
  });

  const moments = ['beforeLstat', 'beforeOpen'] as const;

  test.each(moments)('a link in place of the folder is noticed: %s', async (moment) => {
    attack[moment] = swapFolder;
    expect(await failureOf(readFileTool(root), { path: 'folder/a.txt' })).toBe(
      'path: "folder/a.txt" was replaced while it was being opened',
    );
  });

  test('another file in the same place is noticed', async () => {
    attack.beforeOpen = () => {
      put(join(root, 'other.txt'), 'another');
      renameSync(join(root, 'other.txt'), join(root, 'folder', 'a.txt'));
    };
    expect(await failureOf(readFileTool(root), { path: 'folder/a.txt' })).toContain('replaced');
  });

  test('a file that is gone is an error', async () => {
    attack.beforeOpen = () => {
      rmSync(join(root, 'folder', 'a.txt'));
    };
    expect(await failureOf(readFileTool(root), { path: 'folder/a.txt' })).toBe(
      'path: "folder/a.txt" does not exist',
    );
  });

  test('a link in place of a folder that is being listed is noticed', async () => {
    attack.beforeReaddir = swapFolder;
    expect(await failureOf(listDirTool(root), { path: 'folder' })).toBe(
      'path: "folder" was replaced while it was being opened',
    );
  });

  test('a link in place of the folder that a search was given is an error', async () => {
    attack.beforeReaddir = swapFolder;
    expect(await failureOf(searchTextTool(root), { path: 'folder', query: 'secret' })).toBe(
      'path: "folder" was replaced while it was being opened',
    );
  });

  test.each<[string, () => void]>([
    [
      'a file',
      () => {
        attack.beforeOpen = swapFolder;
      },
    ],
    [
      'a folder',
      () => {
        attack.beforeReaddir = (path) => {
          if (path.endsWith('folder')) swapFolder();
        };
      },
    ],
  ])('a search skips what was swapped under it, and says so: %s', async (_title, prepare) => {
    prepare();
    expect(await searchTextTool(root).execute({ query: 'secret' })).toEqual({
      query: 'secret',
      matches: [],
      files_searched: 0,
      truncated: false,
      note: '1 binary, oversized or unreadable entries were not searched',
    });
  });
});
