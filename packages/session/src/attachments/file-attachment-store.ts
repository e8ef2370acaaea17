import { dirname, join, resolve } from 'node:path';

import { expectThat, type AttachmentStore, type ImageRef } from '@celestea/core';

import { realPath } from '../file-lock.ts';
import {
  makeFolder,
  readAttachmentFile,
  syncFolder,
  writeAttachmentFile,
} from './attachment-file.ts';
import { checkLimits } from './attachment-limits.ts';
import type { AttachmentLimits, AttachmentStoreOptions } from './attachment-limits.ts';
import { addressOf, makeAttachment, type Attachment } from './attachment.ts';

/** What is read however small the limit is by now: a picture that was kept stays readable. */
const ALWAYS_READ_BYTES = 64 * 1024 * 1024;

/**
 * Pictures as files of a folder, each named after its content: `<SHA-256>.<extension>`. Any
 * number of stores and processes may use a folder at once. A picture is durable when `put` has
 * settled, and its file is there as a whole or not at all; a process that dies meanwhile may
 * leave a file named `….part`, which is no picture. The folder is made by the first `put`.
 * Folder and files get the mode that the process's umask leaves, as a log does.
 *
 * @example
 * const store = new FileAttachmentStore(attachmentsFolderOf(log.path));
 * const ref = await store.put(readFileSync('cat.png'), { name: 'cat.png' });
 */
export class FileAttachmentStore implements AttachmentStore {
  /** Absolute. */
  readonly folder: string;
  readonly #limits: AttachmentLimits;
  /** By id, so that the same picture is not written twice at once. */
  readonly #writes: Map<string, Promise<void>> = new Map<string, Promise<void>>();

  /** Throws a `TypeError` when an argument does not fit; touches no disk. */
  constructor(folder: string, options: AttachmentStoreOptions = {}) {
    expectThat(isPath(folder), 'folder', 'the path of a folder', folder);
    this.#limits = checkLimits(options);
    this.folder = resolve(folder);
  }

  /**
   * Keeps a picture. What it is, and how large, its bytes say: width and height are as stored,
   * an orientation that EXIF data asks for is not applied. Of `name` the last part of the path
   * is kept, on one line, at most 255 bytes long; it names no file. A file of the same picture
   * that was damaged is replaced.
   *
   * Rejects with a `TypeError` when the bytes are no whole PNG, JPEG, WebP or GIF picture, with
   * a `RangeError` when they are over a limit, and with an `Error` that names the file when the
   * disk does not take it.
   */
  async put(bytes: Uint8Array, options: { name?: string } = {}): Promise<ImageRef> {
    const attachment = makeAttachment(bytes, options, this.#limits);
    await this.#written(attachment);
    return attachment.ref;
  }

  /**
   * The bytes of a picture. `null` for a reference that no store gave, and when the file is
   * missing, damaged, or no regular file of the folder. Rejects with an `Error` that names the
   * file when the disk fails.
   */
  async read(ref: ImageRef): Promise<Uint8Array | null> {
    const address = addressOf(ref);
    if (address === null) return null;
    const path = join(this.folder, address.fileName);
    return this.#readFile(path, address.id).catch(failAt(path, 'read'));
  }

  #readFile(path: string, id: string): Promise<Uint8Array | null> {
    const most = Math.max(this.#limits.maxBytes, ALWAYS_READ_BYTES);
    return readAttachmentFile(path, id, most);
  }

  #written({ address, bytes }: Attachment): Promise<void> {
    const { id } = address;
    const running = this.#writes.get(id);
    if (running !== undefined) return running;
    const path = join(this.folder, address.fileName);
    const writing = this.#write(path, id, bytes)
      .catch(failAt(path, 'kept'))
      .finally(() => {
        this.#writes.delete(id);
      });
    this.#writes.set(id, writing);
    return writing;
  }

  async #write(path: string, id: string, bytes: Uint8Array): Promise<void> {
    await makeFolder(this.folder);
    // What cannot be read cannot be trusted either: it is replaced, or the disk says why not.
    const there = await this.#readFile(path, id).catch(() => null);
    if (there === null) await writeAttachmentFile(path, bytes);
    await syncFolder(this.folder); // also for a file whose writer may have died before it did
  }
}

/**
 * The folder for the pictures of a session's log: `attachments` beside it, whichever of its
 * names it is opened by. All logs of a folder share it, so that a fork keeps its pictures.
 * Throws when the folder of the log is not there.
 */
export function attachmentsFolderOf(logFile: string): string {
  expectThat(isPath(logFile), 'logFile', 'a file path', logFile);
  return join(dirname(realPath(logFile)), 'attachments');
}

const isPath = (value: unknown): boolean =>
  typeof value === 'string' && value !== '' && !value.includes('\0');

const failAt =
  (path: string, done: 'kept' | 'read') =>
  (error: unknown): never => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${path}: the picture cannot be ${done}: ${reason}`, { cause: error });
  };
