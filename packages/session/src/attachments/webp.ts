import { PictureFault, type PictureBytes } from './picture-bytes.ts';
import { ascii, pictureSize, type PictureFormat, type PictureSize } from './picture-format.ts';

const RIFF = ascii('RIFF');
const WEBP = ascii('WEBP');
const CHUNK_HEADER_BYTES = 8;

interface Chunk {
  readonly type: string;
  /** Where its content starts, and how long that is, in bytes. */
  readonly content: number;
  readonly length: number;
  /** Where the next one starts. */
  readonly end: number;
}

/** A lossy, a lossless or an extended file; of that one, the chunks to its first image. */
function readSize(bytes: PictureBytes): PictureSize {
  const end = CHUNK_HEADER_BYTES + bytes.uint32LittleEndian(4);
  bytes.expect(0, end);
  const first = readChunk(bytes, 12, end);
  if (first.type !== 'VP8X') {
    const size = readImage(bytes, first);
    if (size === null) throw new PictureFault('the first chunk is no VP8, VP8L or VP8X');
    return size;
  }
  expectContent(first, 10);
  const at = first.content + 4;
  const width = 1 + bytes.uint24LittleEndian(at);
  const canvas = pictureSize(width, 1 + bytes.uint24LittleEndian(at + 3));
  for (let chunk = first; chunk.end < end; ) {
    chunk = readChunk(bytes, chunk.end, end);
    if (chunk.type === 'ANMF') return canvas;
    const image = readImage(bytes, chunk);
    if (image === null) continue;
    if (image.width === canvas.width && image.height === canvas.height) return canvas;
    throw new PictureFault('image and canvas have different sizes');
  }
  throw new PictureFault('there is no image');
}

function readChunk(bytes: PictureBytes, at: number, end: number): Chunk {
  const type = bytes.fourCharacters(at);
  const length = bytes.uint32LittleEndian(at + 4);
  const content = at + CHUNK_HEADER_BYTES;
  if (content + length > end) throw new PictureFault('a chunk is longer than the file says');
  return { type, content, length, end: content + length + (length % 2) };
}

/** The size of a still image; `null` when the chunk is something else. */
function readImage(bytes: PictureBytes, chunk: Chunk): PictureSize | null {
  if (chunk.type === 'VP8 ') return readLossy(bytes, chunk);
  return chunk.type === 'VP8L' ? readLossless(bytes, chunk) : null;
}

/** Two bits of each side say how it is to be scaled when it is shown. */
function readLossy(bytes: PictureBytes, chunk: Chunk): PictureSize {
  expectContent(chunk, 10);
  const at = chunk.content;
  const isKeyFrame = bytes.uint8(at) % 2 === 0 && bytes.has(at + 3, [0x9d, 0x01, 0x2a]);
  if (!isKeyFrame) throw new PictureFault('the VP8 chunk starts with no key frame');
  const width = bytes.uint16LittleEndian(at + 6) & 0x3fff;
  return pictureSize(width, bytes.uint16LittleEndian(at + 8) & 0x3fff);
}

/** Fourteen bits for each side, less one. */
function readLossless(bytes: PictureBytes, chunk: Chunk): PictureSize {
  expectContent(chunk, 5);
  const bits = bytes.uint32LittleEndian(chunk.content + 1);
  const isKnown = bytes.uint8(chunk.content) === 0x2f && bits >>> 29 === 0;
  if (!isKnown) throw new PictureFault('the VP8L chunk is of no known version');
  return pictureSize(1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff));
}

function expectContent({ type, length }: Chunk, least: number): void {
  if (length < least) throw new PictureFault(`the ${type.trim()} chunk is too short`);
}

export const webp: PictureFormat = {
  name: 'WebP',
  extension: 'webp',
  isStartOf: (bytes) => bytes.has(0, RIFF) && bytes.has(8, WEBP),
  readSize,
};
