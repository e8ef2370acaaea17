import { readFileSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';

import { errorMessage, type Diagnostic } from '@celestea/agent-loop';
import {
  LlmError,
  messageImages,
  type AttachmentStore,
  type ImageRef,
  type SessionLog,
} from '@celestea/core';
import { InMemoryAttachmentStore } from '@celestea/session';

import { failed, misused, type Refusal } from './exit.ts';
import { kindAt } from './places.ts';
import { formatBytes, quoted, safeLine } from './text.ts';

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
      if (problem !== null) return misused(problemWith(file, problem));
      const bytes = readFileSync(path);
      await check.put(bytes);
      images.push({ file, bytes });
    } catch (error) {
      return misused(problemWith(file, reasonOf(error)));
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
      return failed(problemWith(file, reasonOf(error)));
    }
  }
  return { ok: true, refs };
}

/** A FIFO or a device is not opened: it may never end. */
function fileProblem(path: string): string | null {
  const kind = kindAt(path);
  if (kind === 'nothing') return 'it does not exist';
  if (kind !== 'a file') return `expected a file, got ${kind}`;
  const { size } = statSync(path);
  if (size <= MOST_BYTES) return null;
  return `expected at most ${formatBytes(MOST_BYTES)}, got ${formatBytes(size)}`;
}

/** A store names its argument, which nobody has typed. */
const reasonOf = (error: unknown): string => errorMessage(error).replace(/^bytes: /, '');

const problemWith = (file: string, problem: string): string =>
  `--image: ${quoted(file)}: ${safeLine(problem, 400)}`;

const ADVICE =
  'the model refuses the pictures of this session; --no-images tells it of them in words';

/** How servers speak of what they do not take, `image_url` included. */
const NAMES_PICTURES = /\bimage|\bpicture|\bvision\b|multi-?modal/i;

/**
 * What helps when a server has refused a request because of its pictures, which would be sent
 * with every later turn of the session again; `null` when it failed for another reason.
 */
export function pictureAdvice(
  { kind, error }: Diagnostic,
  log: Pick<SessionLog, 'deriveMessages'>,
): string | null {
  if (kind !== 'model_failed' || !(error instanceof LlmError)) return null;
  // some servers refuse with a status of their own failure
  if (error.httpStatus === null || !NAMES_PICTURES.test(error.message)) return null;
  return log.deriveMessages().some((message) => messageImages(message).length > 0) ? ADVICE : null;
}
