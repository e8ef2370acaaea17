import { createHash } from 'node:crypto';

import {
  cutMiddle,
  expectThat,
  isImageMediaType,
  isRecord,
  type ImageMediaType,
  type ImageRef,
} from '@celestea/core';

import { checkByteCount, checkPixelCount } from './attachment-limits.ts';
import type { AttachmentLimits } from './attachment-limits.ts';
import { extensionOf, inspectPicture } from './inspect-picture.ts';

/** Where the bytes of a picture are to be found. */
export interface AttachmentAddress {
  readonly id: string;
  /** Of 64 digits and the extension of its media type: it leads into no other folder. */
  readonly fileName: string;
}

/** A picture that a store takes. */
export interface Attachment {
  readonly ref: ImageRef;
  readonly address: AttachmentAddress;
  /** A copy: the caller may change what it gave. */
  readonly bytes: Uint8Array;
}

const ID = /^[0-9a-f]{64}$/;

/** The id of bytes: their SHA-256 in lower-case hexadecimal. */
export function attachmentId(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Checks what is to be kept. Throws a `TypeError` when it is no picture, a `RangeError` when
 * it is over a limit.
 */
export function makeAttachment(
  given: unknown,
  options: unknown,
  limits: AttachmentLimits,
): Attachment {
  expectThat(given instanceof Uint8Array, 'bytes', 'a Uint8Array', given);
  const name = checkName(options);
  checkByteCount(limits, given.length);
  const bytes = new Uint8Array(given);
  const { mediaType, width, height } = inspectPicture(bytes);
  checkPixelCount(limits, { width, height });
  const id = attachmentId(bytes);
  const ref: ImageRef = { attachment_id: id, media_type: mediaType, width, height };
  if (name !== null) ref.name = name;
  return { ref, address: makeAddress(id, mediaType), bytes };
}

function checkName(options: unknown): string | null {
  expectThat(isRecord(options), 'options', 'an object such as { name: "a.png" }', options);
  const { name } = options;
  if (name === undefined) return null;
  expectThat(typeof name === 'string', 'name', 'a string', name);
  return cleanName(name);
}

/** How much of a long name is kept of its start and of its end, which says what it is; bytes. */
const HEAD_BYTES = 220;
const TAIL_BYTES = 32;

/** Controls, line separators, and what turns the direction of the text around it. */
const UNFIT = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/**
 * The name of a picture as it may be shown and kept: of a path its last part, well-formed, on
 * one line, at most 255 bytes in UTF-8. `null` when nothing is left of it.
 */
function cleanName(name: string): string | null {
  const last = name.slice(1 + Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')));
  const clean = last.toWellFormed().replace(UNFIT, '').trim();
  if (clean === '' || clean === '.' || clean === '..') return null;
  const cut = cutMiddle(clean, HEAD_BYTES, TAIL_BYTES);
  return cut === null ? clean : `${cut.head}…${cut.tail}`;
}

/** A reference may come from anywhere, such as a log; `null` when no store can have given it. */
export function addressOf(ref: unknown): AttachmentAddress | null {
  if (!isRecord(ref)) return null;
  const { attachment_id: id, media_type: mediaType } = ref;
  if (typeof id !== 'string' || !ID.test(id) || !isImageMediaType(mediaType)) return null;
  return makeAddress(id, mediaType);
}

const makeAddress = (id: string, mediaType: ImageMediaType): AttachmentAddress => ({
  id,
  fileName: `${id}.${extensionOf(mediaType)}`,
});
