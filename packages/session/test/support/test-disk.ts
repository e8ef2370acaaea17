import * as fs from 'node:fs';

import type { FileSystem } from '@celestea/session';

/** What a disk error of the platform looks like. */
export const diskError = (code: 'ENOSPC' | 'EIO'): Error =>
  Object.assign(new Error(`${code}: injected`), { code });

/**
 * The real disk, which counts, records, and fails where a test says so. Hooks are told how
 * many calls of the kind there were, counted from 1.
 */
export class TestDisk implements FileSystem {
  /** What was asked of the disk, in order. Tests may add their own marks. */
  readonly trace: string[] = [];
  writes = 0;
  syncs = 0;
  /** How many bytes a write may take; what it throws the write throws. */
  onWrite: (time: number, length: number) => number = (_, length) => length;
  /** Throws, or gives the error that the disk reports. */
  onSync: (time: number) => Error | null = () => null;
  onTruncate: () => void = () => undefined;
  /** While set, syncs wait for `release`. */
  holding = false;
  readonly #held: (() => void)[] = [];

  get waiting(): number {
    return this.#held.length;
  }

  /** Lets the oldest sync that waits go on. */
  release(): void {
    this.#held.shift()?.();
  }

  openSync(path: string, flags: string): number {
    return fs.openSync(path, flags);
  }

  closeSync(fd: number): void {
    this.trace.push('close');
    fs.closeSync(fd);
  }

  readSync(fd: number, into: Uint8Array, start: number, length: number, at: number): number {
    return fs.readSync(fd, into, start, length, at);
  }

  writeSync(fd: number, bytes: Uint8Array, start: number, length: number): number {
    this.writes += 1;
    const text = new TextDecoder().decode(bytes.subarray(start, start + length));
    this.trace.push(`write ${/^\{"type":"(\w+)"/.exec(text)?.[1] ?? JSON.stringify(text)}`);
    const take = this.onWrite(this.writes, length);
    return take === 0 ? 0 : fs.writeSync(fd, bytes, start, take);
  }

  ftruncateSync(fd: number, length: number): void {
    this.trace.push(`truncate ${String(length)}`);
    this.onTruncate();
    fs.ftruncateSync(fd, length);
  }

  fstatSync(fd: number): fs.Stats {
    return fs.fstatSync(fd);
  }

  statSync(path: string): fs.Stats {
    return fs.statSync(path);
  }

  fsyncSync(fd: number): void {
    this.trace.push('fsync');
    fs.fsyncSync(fd);
  }

  fdatasync(fd: number, done: (error: Error | null) => void): void {
    this.syncs += 1;
    this.trace.push('sync');
    const error = this.onSync(this.syncs);
    const run = (): void => {
      fs.fdatasync(fd, (fault) => {
        this.trace.push('synced');
        done(error ?? fault);
      });
    };
    if (this.holding) this.#held.push(run);
    else run();
  }
}
