import { IMAGE_MEDIA_TYPES, type ImageMediaType } from '@celestea/core';

import { gif } from './gif.ts';
import { jpeg } from './jpeg.ts';
import { PictureBytes, PictureFault } from './picture-bytes.ts';
import type { PictureFormat, PictureSize } from './picture-format.ts';
import { png } from './png.ts';
import { webp } from './webp.ts';

/** The format of every media type. */
const FORMATS: Readonly<Record<ImageMediaType, PictureFormat>> = {
  'image/png': png,
  'image/jpeg': jpeg,
  'image/webp': webp,
  'image/gif': gif,
};

/** What the bytes of a picture say of it. */
export interface InspectedPicture extends PictureSize {
  readonly mediaType: ImageMediaType;
}

/** Of a file's name, without the dot. */
export function extensionOf(mediaType: ImageMediaType): string {
  return FORMATS[mediaType].extension;
}

/** Throws a `TypeError` when the bytes are no whole picture of a known media type. */
export function inspectPicture(bytes: Uint8Array): InspectedPicture {
  const picture = new PictureBytes(bytes);
  const mediaType = IMAGE_MEDIA_TYPES.find((type) => FORMATS[type].isStartOf(picture));
  const count = `${String(bytes.length)} bytes`;
  if (mediaType === undefined) {
    const expected = 'bytes: expected a PNG, JPEG, WebP or GIF picture';
    throw new TypeError(`${expected}, got ${count}${startOf(bytes)}`);
  }
  const format = FORMATS[mediaType];
  try {
    return { mediaType, ...format.readSize(picture) };
  } catch (error) {
    if (!(error instanceof PictureFault)) throw error;
    const expected = `bytes: expected a whole ${format.name} picture`;
    throw new TypeError(`${expected}, got ${count}: ${error.message}`, { cause: error });
  }
}

function startOf(bytes: Uint8Array): string {
  const shown = Array.from(bytes.subarray(0, 4), (byte) => byte.toString(16).padStart(2, '0'));
  return shown.length === 0 ? '' : ` that start with ${shown.join(' ')}`;
}
