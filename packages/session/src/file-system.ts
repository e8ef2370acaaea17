import * as fs from 'node:fs';

/** What a log asks of its disk; a test puts one that fails in its place. */
export interface FileSystem {
  openSync(path: string, flags: string): number;
  closeSync(fd: number): void;
  readSync(fd: number, into: Uint8Array, start: number, length: number, at: number): number;
  writeSync(fd: number, bytes: Uint8Array, start: number, length: number): number;
  ftruncateSync(fd: number, length: number): void;
  fstatSync(fd: number): { size: number; ino: number; nlink: number };
  statSync(path: string): { ino: number };
  fsyncSync(fd: number): void;
  /** Asynchronous, so that a slow disk does not hold up the process. */
  fdatasync(fd: number, done: (error: Error | null) => void): void;
}

export const nodeFileSystem: FileSystem = fs;
