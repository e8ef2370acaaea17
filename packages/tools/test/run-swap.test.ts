import type * as processes from 'node:child_process';
import type * as files from 'node:fs/promises';
import { renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { workTools } from '@celestea/tools';
import { beforeEach, describe, expect, test, vi } from 'vitest';

import { failureOf, freshFolder } from './support/folder.ts';
import { toolNamed } from './support/work.ts';

/** What happens right before an operation: the attacker's turn, once. */
const attack = vi.hoisted(() => ({ before: new Map<string, () => void>() }));

const turn = vi.hoisted(() => (name: string): void => {
  const strike = attack.before.get(name);
  attack.before.delete(name);
  strike?.();
});

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof files>();
  return {
    ...real,
    lstat: async (...args: Parameters<typeof real.lstat>) => {
      turn('lstat');
      return real.lstat(...args);
    },
    open: async (...args: Parameters<typeof real.open>) => {
      turn('open');
      return real.open(...args);
    },
    stat: async (...args: Parameters<typeof real.stat>) => {
      turn('stat');
      return real.stat(...args);
    },
  };
});

vi.mock('node:child_process', async (importOriginal) => {
  const real = await importOriginal<typeof processes>();
  return {
    ...real,
    spawn: (...args: Parameters<typeof real.spawn>) => {
      turn('spawn');
      return real.spawn(...args);
    },
  };
});

let root = '';

const swapFolder = (): void => {
  renameSync(join(root, 'folder'), join(root, 'moved'));
  symlinkSync(join(root, '..', 'outside'), join(root, 'folder'));
};

beforeEach(() => {
  attack.before.clear();
  root = join(freshFolder({ 'root/folder/a.txt': 'a', 'outside/a.txt': 'secret' }), 'root');
});

describe('a swap between check and start', () => {
  const tool = (): ReturnType<typeof toolNamed> =>
    toolNamed(workTools(root, { ask: false }), 'run_command');

  test.each(['lstat', 'open', 'stat'])('is noticed: before %s', async (moment) => {
    attack.before.set(moment, swapFolder);
    expect(await failureOf(tool(), { command: ['cat', 'a.txt'], cwd: 'folder' })).toMatch(
      /^cwd: .*(which is a link|was replaced while it was being used|not a folder)$/,
    );
  });

  test.runIf(process.platform === 'linux')(
    'at the very last moment leaves the command in the folder that was checked',
    async () => {
      attack.before.set('spawn', swapFolder);
      expect(await tool().execute({ command: ['cat', 'a.txt'], cwd: 'folder' })).toMatchObject({
        stdout: 'a',
      });
    },
  );
});
