import { expectThat, isRecord } from '@celestea/core';

import type { PictureSize } from './picture-format.ts';

/** What a store takes. Every field may be left out. */
export interface AttachmentStoreOptions {
  /** How large a picture may be, in bytes; 5 MiB unless set. */
  maxBytes?: number;
  /** Width times height, at most; 40 million unless set. */
  maxPixels?: number;
}

/** Limits that were checked. */
export type AttachmentLimits = Readonly<Required<AttachmentStoreOptions>>;

const DEFAULTS: AttachmentLimits = { maxBytes: 5 * 1024 * 1024, maxPixels: 40_000_000 };

/** Throws a `TypeError` that names the option which does not fit. */
export function checkLimits(options: unknown): AttachmentLimits {
  expectThat(isRecord(options), 'options', 'an object such as { maxBytes: 1000000 }', options);
  const { maxBytes, maxPixels } = options;
  return {
    maxBytes: checkLimit('maxBytes', maxBytes, DEFAULTS.maxBytes),
    maxPixels: checkLimit('maxPixels', maxPixels, DEFAULTS.maxPixels),
  };
}

function checkLimit(name: string, value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise;
  const fits = typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
  expectThat(fits, name, 'a whole number from 1 up', value);
  return value;
}

/** Throws a `RangeError` when there are too many bytes. */
export function checkByteCount({ maxBytes }: AttachmentLimits, count: number): void {
  if (count <= maxBytes) return;
  const expected = `bytes: expected at most ${String(maxBytes)} bytes (maxBytes)`;
  throw new RangeError(`${expected}, got ${String(count)}`);
}

/** Throws a `RangeError` when there are too many pixels. */
export function checkPixelCount({ maxPixels }: AttachmentLimits, size: PictureSize): void {
  if (size.width * size.height <= maxPixels) return;
  const expected = `bytes: expected a picture of at most ${String(maxPixels)} pixels (maxPixels)`;
  throw new RangeError(`${expected}, got ${String(size.width)} x ${String(size.height)}`);
}
