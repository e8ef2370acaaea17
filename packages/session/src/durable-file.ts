import { dirname } from 'node:path';

import { SessionLogBrokenError } from './errors.ts';
import type { FileSystem } from './file-system.ts';

/**
 * A file that only grows, one write a row, and says when what was written is durable. After
 * a fault that leaves its content in doubt it refuses every further write.
 */
export class DurableFile {
  readonly path: string;
  readonly #fs: FileSystem;
  readonly #fd: number;
  #size: number;
  /** Counts what was done to the file, for a size can come back: it may be cut and grow again. */
  #changes = 1;
  /** How many of the changes are known to be durable. */
  #durable = 0;
  #syncing: Promise<void> | null = null;
  #queued: Promise<void> | null = null;
  #fault: SessionLogBrokenError | null = null;
  #folderSynced = false;
  #closed: Promise<void> | null = null;

  /** Takes over a file of `size` bytes that was opened to append. They may not be durable yet. */
  constructor(path: string, fd: number, size: number, fs: FileSystem) {
    this.path = path;
    this.#fd = fd;
    this.#size = size;
    this.#fs = fs;
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#size;
  }

  /** Writes all of it or nothing; throws what the disk throws. */
  append(text: string): void {
    this.#checkOpen();
    const { bytes, length } = encoded(text);
    let done = 0;
    try {
      while (done < length) {
        const wrote = this.#fs.writeSync(this.#fd, bytes, done, length - done);
        if (wrote === 0) throw new Error(`${this.path}: the disk took no bytes`);
        done += wrote;
      }
    } catch (error) {
      this.#takeBack(done, error);
      throw error;
    }
    this.#size += length;
    this.#changes += 1;
  }

  /** Removes everything beyond `size`. */
  truncate(size: number): void {
    this.#checkOpen();
    this.#checkUnchanged();
    this.#fs.ftruncateSync(this.#fd, size);
    this.#size = size;
    this.#changes += 1;
  }

  /**
   * Settles when every byte written before the call is durable. Calls that come while the
   * disk is busy share the next round. Rejects for good once the disk failed: what it did
   * with the bytes is not known then.
   */
  flush(): Promise<void> {
    if (this.#fault !== null) return Promise.reject(this.#fault);
    if (this.#durable === this.#changes) return Promise.resolve();
    if (this.#syncing === null) {
      const syncing = this.#sync().finally(() => {
        this.#syncing = null;
      });
      this.#syncing = syncing;
      return syncing;
    }
    this.#queued ??= this.#syncing.then(() => {
      this.#queued = null;
      return this.flush();
    });
    return this.#queued;
  }

  /** Takes no more rows, waits for the disk, and closes; a second call waits for the first. */
  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #finish(): Promise<void> {
    try {
      await this.flush();
    } finally {
      await this.#syncing?.catch(() => undefined); // the disk is done with the descriptor
      this.#fault = new SessionLogBrokenError(this.path, 'it is closed');
      this.#fs.closeSync(this.#fd);
    }
  }

  async #sync(): Promise<void> {
    const covered = this.#changes;
    try {
      this.#checkUnchanged();
      await this.#dataSynced();
      if (!this.#folderSynced) this.#syncFolder();
      this.#folderSynced = true;
      this.#durable = covered;
    } catch (error) {
      this.#fault ??= this.#broken('its disk failed', error);
      throw this.#fault;
    }
  }

  #dataSynced(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#fs.fdatasync(this.#fd, (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
  }

  /** A new file is there after a crash only when its folder is durable too. */
  #syncFolder(): void {
    try {
      const folder = this.#fs.openSync(dirname(this.path), 'r');
      try {
        this.#fs.fsyncSync(folder);
      } finally {
        this.#fs.closeSync(folder);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EIO') throw error;
      // not every platform can sync a folder, and none needs to
    }
  }

  #checkOpen(): void {
    if (this.#fault !== null) throw this.#fault;
    if (this.#closed !== null) throw new SessionLogBrokenError(this.path, 'it is closed');
  }

  /** Throws when the file is not the one that was written, or not as long. */
  #checkUnchanged(): void {
    const { size, ino, nlink } = this.#fs.fstatSync(this.#fd);
    let reason: string | null = null;
    if (nlink === 0 || this.#inodeAtPath() !== ino) reason = 'the file was removed or replaced';
    else if (size < this.#size) reason = 'the file was cut shorter by somebody else';
    else if (size > this.#size) reason = 'somebody else wrote into the file';
    if (reason === null) return;
    this.#fault = new SessionLogBrokenError(this.path, reason);
    throw this.#fault;
  }

  #inodeAtPath(): number | null {
    try {
      return this.#fs.statSync(this.path).ino;
    } catch {
      return null;
    }
  }

  /** Removes the bytes of a row that were written before the disk failed, and nothing else. */
  #takeBack(bytes: number, cause: unknown): void {
    try {
      const { size } = this.#fs.fstatSync(this.#fd);
      if (size !== this.#size + bytes) throw new Error('the file has another size');
      if (bytes > 0) this.#fs.ftruncateSync(this.#fd, this.#size);
    } catch {
      this.#fault = this.#broken('half a row could not be taken back', cause);
      throw this.#fault;
    }
  }

  #broken(reason: string, cause: unknown): SessionLogBrokenError {
    const why = cause instanceof Error ? `${reason}: ${cause.message}` : reason;
    return new SessionLogBrokenError(this.path, why, { cause });
  }
}

const encoder = new TextEncoder();
/** One for all rows of ordinary length; a buffer for each would cost more than the write of it. */
const scratch = new Uint8Array(64 * 1024);

/** The first `length` of `bytes`, good until the next call. */
function encoded(text: string): { bytes: Uint8Array; length: number } {
  if (text.length * 3 <= scratch.length) {
    return { bytes: scratch, length: encoder.encodeInto(text, scratch).written };
  }
  const bytes = encoder.encode(text);
  return { bytes, length: bytes.length };
}
