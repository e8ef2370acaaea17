import { PictureFault, type PictureBytes } from './picture-bytes.ts';
import { pictureSize, type PictureFormat, type PictureSize } from './picture-format.ts';

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/** What a frame's segment has at least: its length, precision, height, width, components. */
const FRAME_BYTES = 8;

/** A marker that starts a frame: all of C0 to CF but DHT, JPG and DAC. */
const startsFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** A marker without a segment: TEM, RST0 to RST7, and a second SOI. */
const standsAlone = (marker: number): boolean =>
  marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);

/**
 * Segments to the end of the image. The size is that of the frame: an orientation that EXIF
 * data asks for is not applied.
 */
function readSize(bytes: PictureBytes): PictureSize {
  let size: PictureSize | null = null;
  let hasScan = false;
  for (let at = 2; ; ) {
    at = nextMarker(bytes, at);
    const marker = bytes.uint8(at);
    at += 1;
    if (marker === END_OF_IMAGE) break;
    if (standsAlone(marker)) continue;
    const length = bytes.uint16(at);
    if (length < 2) throw new PictureFault(`a segment of ${String(length)} bytes`);
    bytes.expect(at, length);
    if (startsFrame(marker)) {
      if (size !== null) throw new PictureFault('there are two frame headers');
      if (length < FRAME_BYTES) throw new PictureFault('the frame header is too short');
      size = pictureSize(bytes.uint16(at + 5), bytes.uint16(at + 3));
    }
    if (marker === START_OF_SCAN) hasScan = true;
    at += length;
  }
  if (size === null) throw new PictureFault('there is no frame header');
  if (!hasScan) throw new PictureFault('there is no scan');
  return size;
}

/**
 * Where the code of the next marker stands. What is between two segments is passed over, as
 * decoders do: after the header of a scan those are its data, in which a zero follows each FF.
 */
function nextMarker(bytes: PictureBytes, from: number): number {
  for (let at = from; ; at += 1) {
    at = bytes.find(0xff, at);
    while (bytes.uint8(at) === 0xff) at += 1;
    if (bytes.uint8(at) !== 0) return at;
  }
}

export const jpeg: PictureFormat = {
  name: 'JPEG',
  extension: 'jpg',
  isStartOf: (bytes) => bytes.has(0, [0xff, 0xd8, 0xff]),
  readSize,
};
