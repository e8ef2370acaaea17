import { PictureFault, type PictureBytes } from './picture-bytes.ts';
import { pictureSize, type PictureFormat, type PictureSize } from './picture-format.ts';

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const HEADER_BYTES = 13;
/** Length, type and check sum. */
const AROUND_CONTENT = 12;

/** Chunks from the header, which comes first, to IEND. Check sums are not looked at. */
function readSize(bytes: PictureBytes): PictureSize {
  let at = SIGNATURE.length;
  if (bytes.uint32(at) !== HEADER_BYTES || bytes.fourCharacters(at + 4) !== 'IHDR') {
    throw new PictureFault('the first chunk is no IHDR');
  }
  const size = pictureSize(bytes.uint32(at + 8), bytes.uint32(at + 12));
  for (let hasData = false; ; ) {
    const chunkBytes = bytes.uint32(at) + AROUND_CONTENT;
    const type = bytes.fourCharacters(at + 4);
    bytes.expect(at, chunkBytes);
    at += chunkBytes;
    if (type === 'IDAT') hasData = true;
    if (type !== 'IEND') continue;
    if (!hasData) throw new PictureFault('there is no IDAT chunk');
    return size;
  }
}

export const png: PictureFormat = {
  name: 'PNG',
  extension: 'png',
  isStartOf: (bytes) => bytes.has(0, SIGNATURE),
  readSize,
};
