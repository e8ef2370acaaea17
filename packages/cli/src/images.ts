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

import { failed, misused } from './exit.ts';
import { kindAt } from './places.ts';
import { formatBytes, quoted, safeLine } from './text.ts';

/** A file that holds a picture. */
export interface ImageFile {
  /** As it was given. */
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** What the providers take, roughly; a longer file is not even read. */
const MOST_BYTES = 5 * 1024 * 1024;

/**
 * Reads pictures from files, relative to `folder`, and checks that they are pictures of a known
 * media type and not too large. Rejects with a {@link Refusal}.
 */
export async function readImages(files: readonly string[], folder: string): Promise<ImageFile[]> {
  const check = new InMemoryAttachmentStore({ maxBytes: MOST_BYTES });
  const images: ImageFile[] = [];
  for (const file of files) {
    try {
      const bytes = readPicture(resolve(folder, file));
      await check.put(bytes);
      images.push({ file, bytes });
    } catch (error) {
      throw misused(problemWith(file, reasonOf(error)));
    }
  }
  return images;
}

/** Puts pictures where those of the session are. Rejects with a {@link Refusal}. */
export async function keepImages(
  images: readonly ImageFile[],
  store: AttachmentStore,
): Promise<ImageRef[]> {
  const refs: ImageRef[] = [];
  for (const { file, bytes } of images) {
    try {
      refs.push(await store.put(bytes, { name: basename(file) }));
    } catch (error) {
      throw failed(problemWith(file, reasonOf(error)));
    }
  }
  return refs;
}

/** A FIFO or a device is not opened: it may never end. */
function readPicture(path: string): Uint8Array {
  const kind = kindAt(path);
  if (kind === 'nothing') throw new Error('it does not exist');
  if (kind !== 'a file') throw new Error(`expected a file, got ${kind}`);
  const { size } = statSync(path);
  if (size <= MOST_BYTES) return readFileSync(path);
  throw new Error(`expected at most ${formatBytes(MOST_BYTES)}, got ${formatBytes(size)}`);
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
