import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

import { attachmentId } from './attachment.ts';

// No final link is followed, and a pipe that was swapped in cannot hold the open up for ever.
// Where a flag does not exist (Windows) it reads as 0 here.
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What the system says of a path at which no file can be read as it is, and none ever could. */
const NOT_THERE: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'];

/**
 * The bytes of a file that hash to `id`. `null` when there is no such regular file, when it is
 * longer than `maxBytes`, and when its bytes are others. Throws what the disk throws.
 */
export async function readAttachmentFile(
  path: string,
  id: string,
  maxBytes: number,
): Promise<Uint8Array | null> {
  try {
    if (!(await lstat(path)).isFile()) return null;
    const handle = await open(path, READ_FLAGS);
    try {
      const stats = await handle.stat();
      if (!stats.isFile() || stats.size > maxBytes) return null;
      const bytes = await readUpTo(handle, stats.size);
      return attachmentId(bytes) === id ? bytes : null;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (NOT_THERE.includes(errorCode(error))) return null;
    throw error;
  }
}

async function readUpTo(handle: FileHandle, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let done = 0;
  while (done < size) {
    const { bytesRead } = await handle.read(bytes, done, size - done, done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

/**
 * Puts a file in its place as a whole and durably, whatever stood there. On a failure nothing
 * of it is left; a process that dies meanwhile leaves a file whose name ends in `.part`.
 * Throws what the disk throws.
 */
export async function writeAttachmentFile(path: string, bytes: Uint8Array): Promise<void> {
  const prepared = `${path}.${globalThis.crypto.randomUUID()}.part`;
  try {
    const handle = await open(prepared, 'wx');
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(prepared, path);
  } finally {
    await rm(prepared, { force: true }).catch(() => undefined);
  }
}

/** Makes a folder, and those above it, durably; does nothing when it is there. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let made = folder; ; made = dirname(made)) {
    await syncFolder(dirname(made));
    if (made === first || made === dirname(made)) return;
  }
}

/** Has the names in a folder survive a crash: a file is there only when they do. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errorCode(error) === 'EIO') throw error;
    // not every platform can sync a folder, and none needs to
  }
}

const errorCode = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;
