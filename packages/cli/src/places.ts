import { realpathSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';

import type { CliIo } from './io.ts';

/**
 * The folder in which the command was typed. A script runner such as pnpm moves to its
 * package; `INIT_CWD` says where the person was.
 */
export function typedInFolder({ cwd, env }: Pick<CliIo, 'cwd' | 'env'>): string {
  const typedIn = env['INIT_CWD'] ?? '';
  return typedIn === '' ? cwd : resolve(cwd, typedIn);
}

/** What stands at a path, links followed. Throws what the disk throws, such as `EACCES`. */
export function kindAt(path: string): 'nothing' | 'folder' | 'file' | 'something else' {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 'nothing';
  if (stats.isDirectory()) return 'folder';
  return stats.isFile() ? 'file' : 'something else';
}

/** A path as somebody in `folder` would type it: relative where that is shorter. */
export function pathFrom(folder: string, path: string): string {
  const near = relative(realFolder(folder), path);
  return near !== '' && near.length < path.length ? near : path;
}

/** A word for the shell, in quotes where it needs them. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./][\w@%+=:,./-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The way up from a folder is that of the folder itself, not of a link to it. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
