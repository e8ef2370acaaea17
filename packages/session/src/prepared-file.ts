import { closeSync, fsyncSync, openSync, unlinkSync } from 'node:fs';

/**
 * Fills a file beside `path`, makes it durable, and has `place` give it its name. What is then
 * still there under the name that `place` was told is removed, however it came out; a process
 * that dies meanwhile leaves a file whose name ends in `.part`.
 */
export function prepareFile<T>(
  path: string,
  fill: (fd: number) => void,
  place: (prepared: string) => T,
): T {
  const prepared = `${path}.${globalThis.crypto.randomUUID()}.part`;
  try {
    const fd = openSync(prepared, 'wx');
    try {
      fill(fd);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    return place(prepared);
  } finally {
    removeFile(prepared);
  }
}

/** Does nothing when it is gone already. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // gone already
  }
}
