import { constants, type Stats } from 'node:fs';
import { access, link, lstat, open, rename, rm, type FileHandle } from 'node:fs/promises';

import { expectedKind, kindOf, type Target } from '../files/file-root.ts';
import { errorCode, failAt, quotePath } from '../files/fs-error.ts';
import { PinnedFolder } from './pinned-folder.ts';

/** One file to be written. */
export interface PutRequest {
  target: Target;
  content: Uint8Array;
  /** Whether folders on the way that do not exist are made. They stay, even on a failure. */
  createFolders: boolean;
  /** Whether there must not, or has to be a file already. */
  expected: 'new' | 'existing' | undefined;
  signal: AbortSignal | undefined;
}

// O_EXCL takes nothing that is there already, not even a link that leads nowhere.
const TEMP_FLAGS =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Folders that are made for one file: each costs a look at all those above it. */
const MAX_NEW_FOLDERS = 64;

/** No set-user-id: it must not pass on to what somebody else wrote. */
const MODE_BITS = 0o777;

/**
 * Puts a file in its place as a whole: it is written beside it under a name nobody can guess,
 * and gets its own name when all of it is on the device. On a failure nothing of it is left. (A
 * process that is killed meanwhile may leave a file named `.celestea-….tmp`; so may, off Linux,
 * somebody who moves the folder away meanwhile.)
 */
export async function putFile(request: PutRequest): Promise<{ created: boolean }> {
  const { target, expected, signal } = request;
  if (target.missing.length > 0) {
    if (expected === 'existing') throw notThere(target);
    if (!request.createFolders) throw folderMissing(target);
    if (target.missing.length > MAX_NEW_FOLDERS) throw tooDeep(target);
  }
  let folder = await PinnedFolder.open(target.folder.real, target.shown);
  try {
    for (const name of target.missing) {
      signal?.throwIfAborted();
      folder = await folder.descend(name);
    }
    const old = await standsAt(folder, target);
    if (old === null && expected === 'existing') throw notThere(target);
    if (old !== null && expected === 'new') throw alreadyThere(target);
    await replace(folder, old, request);
    return { created: old === null };
  } finally {
    await folder.close();
  }
}

/** What is to be replaced; `null` when nothing stands there. */
async function standsAt(folder: PinnedFolder, { name, shown }: Target): Promise<Stats | null> {
  const path = folder.at(name);
  const stats = await lstat(path).catch((error: unknown) =>
    errorCode(error) === 'ENOENT' ? null : failAt(shown, 'written')(error),
  );
  if (stats === null) return null;
  if (!stats.isFile()) throw expectedKind('file', kindOf(stats), shown);
  // A file can be replaced where it could not be written. Who protected it meant the content.
  await access(path, constants.W_OK).catch(failAt(shown, 'written'));
  return stats;
}

async function replace(
  folder: PinnedFolder,
  old: Stats | null,
  { target, content, expected, signal }: PutRequest,
): Promise<void> {
  const { shown } = target;
  const path = folder.at(target.name);
  const temp = folder.at(`.celestea-${crypto.randomUUID()}.tmp`);
  const handle = await open(temp, TEMP_FLAGS, old === null ? 0o666 : 0o600).catch(failAt(shown, 'written'));
  try {
    try {
      await folder.check();
      await handle.writeFile(content).catch(failAt(shown, 'written'));
      if (old !== null) await copyAccess(handle, old, shown);
      await handle.sync().catch(failAt(shown, 'written'));
    } finally {
      await handle.close();
    }
    signal?.throwIfAborted();
    await folder.check();
    if (expected === 'new') await claim(temp, path, target);
    else await rename(temp, path).catch(failAt(shown, 'written'));
  } finally {
    await rm(temp, { force: true }).catch(() => undefined);
  }
  await folder.sync();
}

/** Names the file unless something has that name: a rename would replace it, a link does not. */
async function claim(temp: string, path: string, target: Target): Promise<void> {
  const code = await link(temp, path).then(
    () => null,
    (error: unknown) => errorCode(error),
  );
  if (code === null) return;
  if (code === 'EEXIST') throw alreadyThere(target);
  // A file system without hard links: all that can be done is to look once more.
  if (await lstat(path).catch(() => null)) throw alreadyThere(target);
  await rename(temp, path).catch(failAt(target.shown, 'written'));
}

/** The owner as far as we may, and the mode. In this order: a new owner takes bits away. */
async function copyAccess(handle: FileHandle, old: Stats, shown: string): Promise<void> {
  await handle.chown(old.uid, old.gid).catch(() => undefined);
  await handle.chmod(old.mode & MODE_BITS).catch(failAt(shown, 'written'));
}

const notThere = ({ shown }: Target): Error =>
  new Error(`path: expected a file that exists, got ${quotePath(shown)}, which does not exist`);

const alreadyThere = ({ shown }: Target): Error =>
  new Error(`path: expected a new file, got ${quotePath(shown)}, which exists already`);

const tooDeep = ({ missing, shown }: Target): Error =>
  new Error(
    `path: expected at most ${String(MAX_NEW_FOLDERS)} folders to be made, ` +
      `got ${String(missing.length)} for ${quotePath(shown)}`,
  );

const folderMissing = ({ shown }: Target): Error =>
  new Error(
    `path: ${quotePath(shown)} lies in a folder that does not exist; ` +
      'set create_folders to true to have it made',
  );
