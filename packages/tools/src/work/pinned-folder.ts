import { constants } from 'node:fs';
import { mkdir, open, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

import { changed, isStill } from '../files/file-root.ts';
import { errorCode, failAt } from '../files/fs-error.ts';

// Where a flag does not exist (Windows) it reads as 0 here.
const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * A folder that is held open, so that what is done in it happens in that very folder even when
 * another one, or a link, is put in its place meanwhile.
 *
 * Node can only name files by their path. On Linux the path leads through the open handle and
 * cannot be led astray. Elsewhere it is the plain path, and a swap is noticed by `check` alone:
 * before anything is written into a new file, and before the file gets its name.
 */
export class PinnedFolder {
  readonly #handle: FileHandle;
  readonly #real: string;
  readonly #shown: string;
  /** What leads to the folder for as long as it is open. */
  readonly path: string;

  private constructor(handle: FileHandle, real: string, shown: string, path: string) {
    this.#handle = handle;
    this.#real = real;
    this.#shown = shown;
    this.path = path;
  }

  /**
   * Opens a folder by its path without links, or `via` another path to the same. `shown` stands
   * in the errors of everything that is done with it.
   */
  static async open(real: string, shown: string, via: string = real): Promise<PinnedFolder> {
    const handle = await open(via, FLAGS).catch(failAt(shown));
    const folder = new PinnedFolder(handle, real, shown, await pathOf(handle, real));
    try {
      await folder.check();
      return folder;
    } catch (error) {
      await folder.close();
      throw error;
    }
  }

  /** Throws unless the folder still stands where it stood, without links on the way. */
  async check(): Promise<void> {
    const isSame = (await isStill(this.#real)) && (await isSamePlace(this.#handle, this.#real));
    if (!isSame) throw changed(this.#shown, 'it was being used');
  }

  /** The path of an entry, which holds for as long as the folder is open. */
  at(name: string): string {
    return join(this.path, name);
  }

  /** Makes a folder in this one unless it exists, opens it and closes this one. */
  async descend(name: string): Promise<PinnedFolder> {
    try {
      await mkdir(this.at(name)).catch((error: unknown) => {
        if (errorCode(error) !== 'EEXIST') failAt(this.#shown, 'written')(error);
      });
      return await PinnedFolder.open(join(this.#real, name), this.#shown, this.at(name));
    } finally {
      await this.close();
    }
  }

  /** Has the names in the folder written to the device, where the system can do that. */
  async sync(): Promise<void> {
    await this.#handle.sync().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/** A path that leads through the handle where there is one, else the plain path. */
async function pathOf(handle: FileHandle, real: string): Promise<string> {
  const path = `/proc/self/fd/${String(handle.fd)}`;
  return process.platform === 'linux' && (await isSamePlace(handle, path)) ? path : real;
}

async function isSamePlace(handle: FileHandle, path: string): Promise<boolean> {
  // The slash has the link of /proc followed, and nothing that is no folder accepted.
  const [held, found] = await Promise.all([
    handle.stat({ bigint: true }),
    stat(`${path}/`, { bigint: true }).catch(() => null),
  ]);
  return found !== null && held.dev === found.dev && held.ino === found.ino;
}
