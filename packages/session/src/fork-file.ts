import { closeSync, linkSync, openSync, readSync, writeSync } from 'node:fs';

import type { DamagedLine } from './errors.ts';
import { prepareFile } from './prepared-file.ts';

/** What of a log's file a new one starts with. */
export interface ForkedPart {
  readonly from: string;
  readonly to: string;
  /** Bytes from the start of the file. */
  readonly end: number;
  /** Lines that are left out. */
  readonly skipped: readonly DamagedLine[];
}

const CHUNK_BYTES = 1024 * 1024;

/** Copies the part byte for byte. The new file appears when it is complete; it replaces none. */
export function forkFile({ from, to, end, skipped }: ForkedPart): void {
  const source = openSync(from, 'r');
  const copy = (target: number): void => {
    let at = 0;
    for (const { offset, bytes } of skipped.filter((line) => line.offset < end)) {
      copyBytes(source, target, at, offset);
      at = offset + bytes + 1;
    }
    copyBytes(source, target, at, end);
  };
  try {
    prepareFile(to, copy, (prepared) => {
      linkSync(prepared, to);
    });
  } finally {
    closeSync(source);
  }
}

function copyBytes(source: number, target: number, from: number, to: number): void {
  const chunk = new Uint8Array(Math.min(CHUNK_BYTES, Math.max(0, to - from)));
  for (let at = from; at < to; ) {
    const read = readSync(source, chunk, 0, Math.min(chunk.length, to - at), at);
    if (read === 0) throw new Error(`the log ended at byte ${String(at)} of ${String(to)}`);
    for (let done = 0; done < read; ) done += writeSync(target, chunk, done, read - done);
    at += read;
  }
}
