import { createHash } from 'node:crypto';

import {
  describeValue,
  isImageMediaType,
  isRecord,
  type ImageMediaType,
  type ImageRef,
} from '@celestea/core';

import { checkByteCount, checkPixelCount, expectArgument } from './attachment-limits.ts';
import type { AttachmentLimits } from './attachment-limits.ts';
import { cleanName } from './attachment-name.ts';
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
  if (!(given instanceof Uint8Array)) {
    throw new TypeError(`bytes: expected a Uint8Array, got ${describeValue(given)}`);
  }
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
  expectArgument('options', 'an object such as { name: "a.png" }', isRecord(options), options);
  const { name } = options as { name?: unknown };
  if (name === undefined) return null;
  if (typeof name === 'string') return cleanName(name);
  throw new TypeError(`name: expected a string, got ${describeValue(name)}`);
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
