import { readFileSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';

import { errorMessage } from '@celestea/agent-loop';
import type { AttachmentStore, ImageRef } from '@celestea/core';
import { InMemoryAttachmentStore } from '@celestea/session';

import type { Refusal } from './complain.ts';
import { EXIT } from './exit-code.ts';
import { formatBytes } from './format.ts';
import { kindAt } from './places.ts';
import { safeLine } from './safe-text.ts';

/** A file that holds a picture. */
export interface ImageFile {
  /** As it was given. */
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** The pictures, or what is wrong with one. */
export type ReadImages =
  { readonly ok: true; readonly images: readonly ImageFile[] } | Refusal;

/** References to the pictures in the order they were given, or why one cannot be kept. */
export type KeptImages = { readonly ok: true; readonly refs: readonly ImageRef[] } | Refusal;

/** What the providers take, roughly; a longer file is not even read. */
const MOST_BYTES = 5 * 1024 * 1024;
const LONGEST_ERROR = 400;

/**
 * Reads pictures from files, relative to `folder`, and checks that they are pictures of a known
 * media type and not too large. Never rejects.
 */
export async function readImages(files: readonly string[], folder: string): Promise<ReadImages> {
  const check = new InMemoryAttachmentStore({ maxBytes: MOST_BYTES });
  const images: ImageFile[] = [];
  for (const file of files) {
    try {
      const path = resolve(folder, file);
      const problem = fileProblem(path);
      if (problem !== null) return refusal(EXIT.misuse, file, problem);
      const bytes = readFileSync(path);
      await check.put(bytes);
      images.push({ file, bytes });
    } catch (error) {
      return refusal(EXIT.misuse, file, reasonOf(error));
    }
  }
  return { ok: true, images };
}

/** Puts pictures where those of the session are. Never rejects. */
export async function keepImages(
  images: readonly ImageFile[],
  store: AttachmentStore,
): Promise<KeptImages> {
  const refs: ImageRef[] = [];
  for (const { file, bytes } of images) {
    try {
      refs.push(await store.put(bytes, { name: basename(file) }));
    } catch (error) {
      return refusal(EXIT.failed, file, reasonOf(error));
    }
  }
  return { ok: true, refs };
}

/** A FIFO or a device is not opened: it may never end. */
function fileProblem(path: string): string | null {
  const kind = kindAt(path);
  switch (kind) {
    case 'nothing':
      return 'it does not exist';
    case 'folder':
      return 'expected a file, got a folder';
    case 'something else':
      return 'expected a file, got something else';
    case 'file': {
      const { size } = statSync(path);
      if (size <= MOST_BYTES) return null;
      return `expected at most ${formatBytes(MOST_BYTES)}, got ${formatBytes(size)}`;
    }
    default:
      return kind satisfies never;
  }
}

/** A store names its argument, which nobody has typed. */
const reasonOf = (error: unknown): string => errorMessage(error).replace(/^bytes: /, '');

function refusal(code: Refusal['code'], file: string, problem: string): Refusal {
  const shown = `"${safeLine(file, LONGEST_ERROR)}"`;
  return { ok: false, code, error: `--image: ${shown}: ${safeLine(problem, LONGEST_ERROR)}` };
}
