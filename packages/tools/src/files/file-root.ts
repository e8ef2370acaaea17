import { constants, realpathSync, statSync, type Dirent } from 'node:fs';
import { lstat, open, readdir, realpath, type FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

import { expectThat } from '@celestea/core';
import { errorCode, failAt, fsError, quotePath } from './fs-error.ts';
import {
  inSessionHome,
  isInSessionHome,
  isSessionHomeName,
  wouldBeInSessionHome,
} from './session-home.ts';

/** What the schemas of the tools say of a path. */
export const PATH = { type: 'string', minLength: 1, maxLength: 4_096 } as const;

/** What stands at a path; a link is not followed. */
export type FileKind = 'file' | 'folder' | 'link' | 'other';

/** A place that lies within the root. */
export interface Place {
  /** The path without links, for the operating system. */
  real: string;
  /** The path as it is shown: relative to the root, with forward slashes; the root is `.`. */
  shown: string;
}

/** Where something is to be put: what stands there, if anything, is not looked at. */
export interface Target {
  /** The nearest folder on the way that exists. */
  folder: Place;
  /** The folders between that one and the target, which do not exist. */
  missing: readonly string[];
  /** The last part of the path. */
  name: string;
  /** The whole path as it is shown. */
  shown: string;
}

/** A regular file within the root, open for reading. */
export interface OpenFile {
  handle: FileHandle;
  shown: string;
  /** Its size in bytes when it was opened. */
  bytes: number;
}

/** A folder within the root, and what it holds, sorted by name in code-unit order. */
export interface Folder {
  place: Place;
  entries: Dirent[];
}

// No final link is followed, and a pipe that was swapped in cannot hold the open up for ever.
// Where a flag does not exist (Windows) it reads as 0 here.
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * A folder that cannot be left. A path is resolved down to the last link before it is used, and
 * what was opened is compared with what was checked, so that neither `..`, an absolute path, a
 * link nor a swap in between leads out. Links that stay within the root are fine. Every error is
 * an `Error` whose message names the path as it was asked for.
 *
 * One folder in it is not for tools either, neither by its path nor by a link: the home of its
 * sessions. No listing shows it.
 *
 * A hard link cannot be told from the file itself; who may make one here may read its target.
 */
export class FileRoot {
  readonly #path: string;

  /** Throws a `TypeError` when `root` is no path, an `Error` when no folder stands there. */
  constructor(root: string) {
    const isPath = typeof root === 'string' && root !== '' && !root.includes('\0');
    expectThat(isPath, 'root', 'the path of a folder', root);
    this.#path = realFolder(root);
  }

  /** The root itself, without links. */
  get path(): string {
    return this.#path;
  }

  /** The place of a path relative to the root; it must exist. */
  async locate(path: string): Promise<Place> {
    const wanted = this.#wanted(path);
    const real = await realpath(wanted).catch(async (error: unknown) => {
      await this.#refuseAbove(wanted, path);
      throw fsError(path, error);
    });
    await this.#refuse(real, path);
    return { real, shown: this.#shown(wanted) };
  }

  /** Where a path relative to the root would be put; neither it nor its folders must exist. */
  async locateTarget(path: string): Promise<Target> {
    const wanted = this.#wanted(path);
    if (wanted === this.#path || /[/\\]$/.test(path)) throw expectedKind('file', 'folder', path);
    const missing: string[] = [];
    for (let folder = dirname(wanted); this.#holds(folder); folder = dirname(folder)) {
      const real = await realpath(folder).catch(async (error: unknown) => {
        if (errorCode(error) === 'ENOENT') return null;
        await this.#refuseAbove(folder, path);
        throw fsError(path, error);
      });
      if (real !== null) {
        await this.#refuse(real, path);
        const name = missing[0] ?? basename(wanted);
        if (await wouldBeInSessionHome(this.#path, real, name)) throw inSessionHome();
        const place = { real, shown: this.#shown(folder) };
        return { folder: place, missing, name: basename(wanted), shown: this.#shown(wanted) };
      }
      missing.unshift(basename(folder));
    }
    throw new Error(`path: ${quotePath(path)} lies in a root that does not exist any more`);
  }

  /** What stands at a place. */
  async kindAt(place: Place): Promise<FileKind> {
    return kindOf(await lstat(place.real).catch(failAt(place.shown)));
  }

  /** Opens a regular file for the time that `use` takes. */
  async withFile<T>(path: string, use: (file: OpenFile) => Promise<T>): Promise<T> {
    const { real, shown } = await this.locate(path);
    const checked = await lstat(real, { bigint: true }).catch(failAt(shown));
    if (!checked.isFile()) throw expectedKind('file', kindOf(checked), shown);
    const handle = await open(real, OPEN_FLAGS).catch(failAt(shown));
    try {
      const opened = await handle.stat({ bigint: true }).catch(failAt(shown));
      const isChecked = opened.dev === checked.dev && opened.ino === checked.ino;
      if (!isChecked || !(await isStill(real))) throw changed(shown);
      return await use({ handle, shown, bytes: Number(opened.size) });
    } finally {
      await handle.close();
    }
  }

  /** Lists a folder. */
  async folder(path: string): Promise<Folder> {
    const place = await this.locate(path);
    const kind = await this.kindAt(place);
    if (kind !== 'folder') throw expectedKind('folder', kind, place.shown);
    const entries = await readdir(place.real, { withFileTypes: true }).catch(failAt(place.shown));
    if (!(await isStill(place.real))) throw changed(place.shown);
    const isRoot = place.real === this.#path;
    const listed = entries.filter(({ name }) => !(isRoot && isSessionHomeName(name)));
    return { place, entries: listed.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  }

  /** The size in bytes of a file in a folder; `null` when it is gone. */
  async sizeOf(folder: Place, name: string): Promise<number | null> {
    const stats = await lstat(join(folder.real, name)).catch(() => null);
    return stats === null ? null : stats.size;
  }

  /** The absolute path that is meant, links and all; it lies within the root by its words. */
  #wanted(path: string): string {
    if (path.includes('\0')) {
      throw new Error(`path: expected a path without NUL characters, got ${quotePath(path)}`);
    }
    if (isAbsolute(path)) {
      throw new Error(`path: expected a path relative to the root, got ${quotePath(path)}`);
    }
    const wanted = resolve(this.#path, path);
    if (!this.#holds(wanted)) throw leadsOutside(path);
    return wanted;
  }

  #shown(wanted: string): string {
    return relative(this.#path, wanted).split(sep).join('/') || '.';
  }

  #holds(path: string): boolean {
    const prefix = this.#path.endsWith(sep) ? this.#path : this.#path + sep;
    return path === this.#path || path.startsWith(prefix);
  }

  /** Refuses a path without links that is not for tools. */
  async #refuse(real: string, path: string): Promise<void> {
    if (!this.#holds(real)) throw leadsOutside(path);
    if (await isInSessionHome(this.#path, real)) throw inSessionHome();
  }

  /** Below what is refused, what is missing must read the same as what is there. */
  async #refuseAbove(wanted: string, path: string): Promise<void> {
    for (let folder = dirname(wanted); this.#holds(folder); folder = dirname(folder)) {
      const real = await realpath(folder).catch(() => null);
      if (real !== null) return this.#refuse(real, path);
      if (folder === dirname(folder)) return;
    }
  }
}

/** What an entry or its stats say it is. */
export function kindOf(
  entry: Pick<Dirent, 'isFile' | 'isDirectory' | 'isSymbolicLink'>,
): FileKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

/** The path of an entry of a folder, as it is shown and as it is asked for. */
export function pathIn(folder: string, name: string): string {
  return folder === '.' ? name : `${folder}/${name}`;
}

function realFolder(root: string): string {
  const isFolder = statSync(root, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder !== true) {
    const came = isFolder === undefined ? 'nothing that exists' : 'something else';
    throw new Error(`root: expected a folder at ${quotePath(root)}, got ${came}`);
  }
  return realpathSync.native(root);
}

/** Whether a path that had no links still has none. */
export const isStill = async (real: string): Promise<boolean> =>
  (await realpath(real).catch(() => null)) === real;

const leadsOutside = (path: string): Error =>
  new Error(`path: expected a path within the root, got ${quotePath(path)}, which leads outside`);

/** Something else stands at a path than a moment ago. */
export const changed = (shown: string, when = 'it was being opened'): Error =>
  new Error(`path: ${quotePath(shown)} was replaced while ${when}`);

export const expectedKind = (expected: FileKind, came: FileKind, shown: string): Error =>
  new Error(
    `path: expected a ${expected}, got ${quotePath(shown)}, which is ` +
      (came === 'other' ? 'neither a file nor a folder' : `a ${came}`),
  );
