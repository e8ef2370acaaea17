import { PictureFault, type PictureBytes } from './picture-bytes.ts';
import { ascii, pictureSize, type PictureFormat, type PictureSize } from './picture-format.ts';

const SIGNATURES = ['GIF87a', 'GIF89a'].map(ascii);
const HEADER_BYTES = 13;
const IMAGE_HEADER_BYTES = 10;

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;

/**
 * Blocks to the trailer, or to the end of the bytes after an image: some programs write none.
 * The size is that of the screen, on which every frame is drawn.
 */
function readSize(bytes: PictureBytes): PictureSize {
  const size = pictureSize(bytes.uint16LittleEndian(6), bytes.uint16LittleEndian(8));
  let at = HEADER_BYTES + colourTableBytes(bytes.uint8(10));
  for (let hasImage = false; ; ) {
    const block = hasImage && at === bytes.length ? TRAILER : bytes.uint8(at);
    switch (block) {
      case EXTENSION:
        at = endOfData(bytes, at + 2); // its label stands between
        break;
      case IMAGE: {
        const table = colourTableBytes(bytes.uint8(at + IMAGE_HEADER_BYTES - 1));
        at = endOfData(bytes, at + IMAGE_HEADER_BYTES + table + 1); // the size of its codes too
        hasImage = true;
        break;
      }
      case TRAILER:
        if (!hasImage) throw new PictureFault('there is no image');
        return size;
      default:
        throw new PictureFault(`byte ${String(at + 1)} starts no block`);
    }
  }
}

/** The lowest three bits are its size, the highest says whether there is one. */
const colourTableBytes = (flags: number): number =>
  flags < 0x80 ? 0 : 3 * 2 ** ((flags & 0x07) + 1);

/** Passes over a chain of data blocks, each behind its length; an empty one ends it. */
function endOfData(bytes: PictureBytes, from: number): number {
  let at = from;
  for (let length = -1; length !== 0; at += length + 1) length = bytes.uint8(at);
  return at;
}

export const gif: PictureFormat = {
  name: 'GIF',
  extension: 'gif',
  isStartOf: (bytes) => SIGNATURES.some((signature) => bytes.has(0, signature)),
  readSize,
};
