import type * as files from 'node:fs/promises';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { workTools } from '@celestea/tools';
import { beforeEach, describe, expect, test, vi } from 'vitest';

import { failureOf, freshFolder } from './support/folder.ts';
import { toolNamed } from './support/work.ts';

/** What happens right before an operation of the file system: the attacker's turn, once. */
const attack = vi.hoisted(() => {
  const idle = (): void => undefined;
  return {
    idle,
    before: new Map<string, () => void>(),
    /** Fails an operation instead. */
    failing: new Map<string, string>(),
    /** Whether paths can lead through an open folder, as on Linux. */
    hasProc: true,
  };
});

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof files>();
  const turn = (name: string): void => {
    const strike = attack.before.get(name) ?? attack.idle;
    attack.before.delete(name);
    strike();
    const code = attack.failing.get(name);
    if (code !== undefined) throw Object.assign(new Error(`${code}: no`), { code });
  };
  const isTemp = (path: unknown): boolean => String(path).includes('.celestea-');
  return {
    ...real,
    stat: async (...args: Parameters<typeof real.stat>) => {
      if (!attack.hasProc && String(args[0]).startsWith('/proc/')) throw new Error('no /proc');
      return real.stat(...args);
    },
    lstat: async (...args: Parameters<typeof real.lstat>) => {
      turn('lstat');
      return real.lstat(...args);
    },
    access: async (...args: Parameters<typeof real.access>) => {
      turn('access');
      return real.access(...args);
    },
    mkdir: async (...args: Parameters<typeof real.mkdir>) => {
      turn('mkdir');
      return real.mkdir(...args);
    },
    open: async (...args: Parameters<typeof real.open>) => {
      turn(isTemp(args[0]) ? 'open temp' : 'open folder');
      const handle = await real.open(...args);
      if (!isTemp(args[0])) return handle;
      const writeFile = handle.writeFile.bind(handle);
      const sync = handle.sync.bind(handle);
      const chmod = handle.chmod.bind(handle);
      return Object.assign(handle, {
        writeFile: async (...given: Parameters<typeof writeFile>) => {
          turn('write');
          return writeFile(...given);
        },
        sync: async () => {
          turn('sync');
          return sync();
        },
        chmod: async (...given: Parameters<typeof chmod>) => {
          turn('chmod');
          return chmod(...given);
        },
      });
    },
    rename: async (...args: Parameters<typeof real.rename>) => {
      turn('rename');
      return real.rename(...args);
    },
    link: async (...args: Parameters<typeof real.link>) => {
      turn('link');
      return real.link(...args);
    },
  };
});

let root = '';
let outside = '';

beforeEach(() => {
  attack.before.clear();
  attack.failing.clear();
  attack.hasProc = true;
  const top = freshFolder({ 'root/folder/a.txt': 'inside', 'outside/a.txt': 'the secret' });
  root = join(top, 'root');
  outside = join(top, 'outside');
});

const tool = (): ReturnType<typeof toolNamed> =>
  toolNamed(workTools(root, { ask: false }), 'write_file');

const fails = (args: object = {}): Promise<string> =>
  failureOf(tool(), { path: 'folder/a.txt', content: 'overwritten', ...args });

const swapFolder = (): void => {
  renameSync(join(root, 'folder'), join(root, 'moved'));
  symlinkSync(outside, join(root, 'folder'));
};

/** Outside everything is as it was, and nowhere lies half a file. */
const expectNoTrace = (): void => {
  expect(readdirSync(outside)).toEqual(['a.txt']);
  expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('the secret');
  // Where a folder can only be named by its path, what lies in it is lost with one that is moved.
  if (!attack.hasProc) rmSync(join(root, 'moved'), { recursive: true, force: true });
  const names = readdirSync(root, { recursive: true }).map(String);
  expect(names.filter((name) => name.includes('.celestea-'))).toEqual([]);
};

const text = (path: string): string => readFileSync(join(root, path), 'utf8');

describe.each([true, false])('a swap between check and use, with /proc: %s', (hasProc) => {
  beforeEach(() => {
    attack.hasProc = hasProc;
  });

  test.each(['open folder', 'lstat', 'access', 'open temp', 'write', 'sync'])(
    'a link in place of the folder is noticed: before %s',
    async (moment) => {
      attack.before.set(moment, swapFolder);
      expect(await fails()).toMatch(
        /^path: "folder\/a\.txt" (was replaced while it was being used|goes through)/,
      );
      expect(text('moved/a.txt')).toBe('inside');
      expectNoTrace();
    },
  );

  test.each(['rename', 'link'])(
    'a link in place of the folder at the last moment leads nowhere: before %s',
    async (moment) => {
      attack.before.set(moment, swapFolder);
      const args = moment === 'link' ? { path: 'folder/new.txt', expect: 'new' } : {};
      const came = await tool()
        .execute({ path: 'folder/a.txt', content: 'mine', ...args })
        .catch(() => null);
      // Through the open folder the write goes where it was checked; by path it finds nothing.
      expect(came === null).toBe(!hasProc);
      expect(readdirSync(outside)).toEqual(['a.txt']);
      expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('the secret');
    },
  );

  test('another folder in its place is noticed', async () => {
    attack.before.set('open folder', () => {
      renameSync(join(root, 'folder'), join(root, 'moved'));
      mkdirSync(join(root, 'folder'));
    });
    attack.before.set('open temp', () => {
      renameSync(join(root, 'folder'), join(root, 'gone'));
      mkdirSync(join(root, 'folder'));
    });
    expect(await fails()).toContain('was replaced while it was being used');
    expectNoTrace();
  });

  test.each(['open temp', 'write', 'rename'])(
    'a link in place of the file is replaced, and what it leads to is not written: before %s',
    async (moment) => {
      attack.before.set(moment, () => {
        rmSync(join(root, 'folder', 'a.txt'));
        symlinkSync(join(outside, 'a.txt'), join(root, 'folder', 'a.txt'));
      });
      await tool().execute({ path: 'folder/a.txt', content: 'mine' });
      expectNoTrace();
      expect(() => readlinkSync(join(root, 'folder', 'a.txt'))).toThrow('EINVAL');
      expect(text('folder/a.txt')).toBe('mine');
    },
  );

  test('a folder in place of the file is an error', async () => {
    attack.before.set('rename', () => {
      rmSync(join(root, 'folder', 'a.txt'));
      mkdirSync(join(root, 'folder', 'a.txt'));
    });
    expect(await fails()).toBe('path: "folder/a.txt" is a folder');
    expectNoTrace();
  });

  test('a link in place of a folder that is about to be made is not entered', async () => {
    attack.before.set('mkdir', () => {
      symlinkSync(outside, join(root, 'new'));
    });
    expect(await fails({ path: 'new/x.txt', create_folders: true })).toMatch(/^path: "new\/x.txt"/);
    expectNoTrace();
  });

  test('a link in place of the folder in which one is about to be made', async () => {
    attack.before.set('mkdir', swapFolder);
    expect(await fails({ path: 'folder/new/x.txt', create_folders: true })).toMatch(/^path: /);
    // By path an empty folder may come to be there; no file ever does.
    if (!hasProc) rmSync(join(outside, 'new'), { recursive: true, force: true });
    expectNoTrace();
  });

  test('a new file is not put in place of one that came meanwhile', async () => {
    attack.before.set('link', () => {
      writeFileSync(join(root, 'folder', 'new.txt'), 'first');
    });
    expect(await fails({ path: 'folder/new.txt', expect: 'new' })).toContain('exists already');
    expectNoTrace();
    expect(text('folder/new.txt')).toBe('first');
  });
});

describe('a failure leaves what was there, and nothing else', () => {
  test.each<[string, string, string]>([
    ['write', 'ENOSPC', 'does not fit: no space is left on the device'],
    ['write', 'EDQUOT', 'does not fit: the quota is used up'],
    ['sync', 'EIO', 'could not be written (EIO)'],
    ['chmod', 'EPERM', 'may not be written (permission denied)'],
    ['rename', 'EXDEV', 'could not be written (EXDEV)'],
    ['open temp', 'EROFS', 'is on a file system that may only be read'],
    ['access', 'EACCES', 'may not be written (permission denied)'],
  ])('%s fails with %s', async (operation, code, reason) => {
    attack.failing.set(operation, code);
    expect(await fails()).toBe(`path: "folder/a.txt" ${reason}`);
    expectNoTrace();
    expect(text('folder/a.txt')).toBe('inside');
  });

  test('a folder that cannot be made', async () => {
    attack.failing.set('mkdir', 'EACCES');
    expect(await fails({ path: 'new/x.txt', create_folders: true })).toBe(
      'path: "new/x.txt" may not be written (permission denied)',
    );
  });

  test('a file system without hard links: new files are made, old ones stay', async () => {
    attack.failing.set('link', 'EPERM');
    const args = { path: 'folder/new.txt', content: 'x', expect: 'new' };
    expect(await tool().execute(args)).toMatchObject({ created: true });
    expect(text('folder/new.txt')).toBe('x');
    attack.before.set('link', () => {
      writeFileSync(join(root, 'folder', 'other.txt'), 'first');
    });
    expect(await fails({ ...args, path: 'folder/other.txt' })).toContain('exists already');
    expectNoTrace();
  });

  test('a cancel while it is being written', async () => {
    const controller = new AbortController();
    attack.before.set('sync', () => {
      controller.abort(new Error('the turn is over'));
    });
    const written = tool().execute(
      { path: 'folder/a.txt', content: 'mine' },
      { signal: controller.signal },
    );
    await expect(written).rejects.toThrow('the turn is over');
    expectNoTrace();
    expect(text('folder/a.txt')).toBe('inside');
    expect(existsSync(join(root, 'folder', 'a.txt'))).toBe(true);
  });
});
