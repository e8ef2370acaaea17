import { crc32, deflateSync } from 'node:zlib';

import type { ImageMediaType } from '@celestea/core';

/** Bytes from numbers, ASCII texts and other bytes, one after the other. */
export function bytesOf(...parts: readonly (number | string | Uint8Array)[]): Uint8Array {
  const lists = parts.map((part) => {
    if (typeof part === 'number') return [part];
    return typeof part === 'string' ? Array.from(part, (c) => c.charCodeAt(0)) : [...part];
  });
  return Uint8Array.from(lists.flat());
}

/** A number in so many bytes, least significant first. */
export function little(value: number, bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, index) => Math.floor(value / 256 ** index) % 256);
}

/** The same, most significant first. */
export const big = (value: number, bytes: number): Uint8Array => little(value, bytes).reverse();

export function pngChunk(type: string, content: Uint8Array): Uint8Array {
  const checked = bytesOf(type, content);
  return bytesOf(big(content.length, 4), checked, big(crc32(checked), 4));
}

export const PNG_SIGNATURE = bytesOf(0x89, 'PNG\r\n', 0x1a, '\n');

export const pngHeader = (width: number, height: number): Uint8Array =>
  pngChunk('IHDR', bytesOf(big(width, 4), big(height, 4), 8, 0, 0, 0, 0));

/** A real one, all of one grey. */
export function pngPicture(width: number, height: number, grey = 0): Uint8Array {
  const row = bytesOf(0, new Uint8Array(width).fill(grey));
  const rows = new Uint8Array(row.length * height).map((_, at) => row[at % row.length] ?? 0);
  return bytesOf(
    PNG_SIGNATURE,
    pngHeader(width, height),
    pngChunk('tEXt', bytesOf('Comment', 0, 'made by hand')),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', bytesOf()),
  );
}

/** A segment of a JPEG file with its marker and length. */
export const segment = (marker: number, content: Uint8Array): Uint8Array =>
  bytesOf(0xff, marker, big(content.length + 2, 2), content);

export const frame = (width: number, height: number, marker = 0xc0): Uint8Array =>
  segment(marker, bytesOf(8, big(height, 2), big(width, 2), 1, 1, 0x11, 0));

export const SCAN = bytesOf(segment(0xda, bytesOf(1, 1, 0, 0, 63, 0)), 0x12, 0xff, 0, 0x34);

/** EXIF data with one entry, an orientation: to be shown on its side. */
const TURNED = segment(
  0xe1,
  bytesOf(
    ...['Exif', 0, 0, 'MM', 0, 42, big(8, 4), big(1, 2)],
    ...[big(0x0112, 2), big(3, 2), big(1, 4), big(6, 2), 0, 0, big(0, 4)],
  ),
);

/** Progressive, with a thumbnail and an orientation in front, fill bytes and a restart. */
export function jpegPicture(width: number, height: number): Uint8Array {
  const thumbnail = bytesOf(0xff, 0xd8, frame(3, 2), SCAN, 0xff, 0xd9);
  return bytesOf(
    ...[0xff, 0xd8],
    segment(0xe0, bytesOf('JFIF', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0)),
    TURNED,
    segment(0xed, thumbnail),
    segment(0xc4, bytesOf(0, new Uint8Array(16), 0xff, 0xd9)),
    ...[0xff, 0xff, 0xff],
    frame(width, height, 0xc2),
    SCAN,
    ...[0xff, 0xd0, 0x56, 0xff, 0xff],
    SCAN.subarray(1),
    ...[0xff, 0xd9],
  );
}

/** A chunk of a WebP file, with its padding. */
export const riffChunk = (type: string, content: Uint8Array): Uint8Array =>
  bytesOf(type, little(content.length, 4), content, new Uint8Array(content.length % 2));

export function riff(...chunks: readonly Uint8Array[]): Uint8Array {
  const body = bytesOf('WEBP', ...chunks);
  return bytesOf('RIFF', little(body.length, 4), body);
}

/** Lossy; the scaling bits are set. */
export const vp8 = (width: number, height: number): Uint8Array =>
  riffChunk(
    'VP8 ',
    bytesOf(0x10, 0, 0, 0x9d, 1, 0x2a, little(width + 0x4000, 2), little(height + 0x8000, 2), 7),
  );

/** Lossless; the alpha bit is set. */
export const vp8l = (width: number, height: number): Uint8Array =>
  riffChunk('VP8L', bytesOf(0x2f, little(width - 1 + (height - 1) * 2 ** 14 + 2 ** 28, 4), 9, 9));

/** The header of an extended file. */
export const vp8x = (width: number, height: number): Uint8Array =>
  riffChunk('VP8X', bytesOf(0x10, 0, 0, 0, little(width - 1, 3), little(height - 1, 3)));

/** The header of a GIF file with a colour table of two. */
export const gifHeader = (width: number, height: number, version = '89a'): Uint8Array =>
  bytesOf(`GIF${version}`, little(width, 2), little(height, 2), 0x80, 0, 0, new Uint8Array(6));

/** A frame of one pixel, with a colour table of four of its own. */
export const GIF_IMAGE = bytesOf(
  ...[0x2c, little(0, 4), little(1, 2), little(1, 2), 0x81, new Uint8Array(12)],
  ...[2, 2, 0x4c, 1, 0],
);

const GIF_CONTROL = bytesOf(0x21, 0xf9, 4, 0, 0, 0, 0, 0);
const GIF_COMMENT = bytesOf(0x21, 0xfe, 3, ';,!', 1, '!', 0);
const GIF_BLOCKS = [GIF_CONTROL, GIF_IMAGE, GIF_COMMENT, GIF_CONTROL, GIF_IMAGE];

/** Two frames, delays and a comment. */
export const gifPicture = (width: number, height: number): Uint8Array =>
  bytesOf(gifHeader(width, height), ...GIF_BLOCKS, ';');

export interface SamplePicture {
  readonly title: string;
  readonly mediaType: ImageMediaType;
  readonly extension: string;
  /** Its name in an error. */
  readonly format: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

/**
 * Whether bytes that were cut off are a picture all the same: those of a GIF are when they end
 * between two blocks and there is an image in front.
 */
export function isWhole({ mediaType, bytes }: SamplePicture, length: number): boolean {
  if (length === bytes.length) return true;
  if (mediaType !== 'image/gif') return false;
  const start = gifHeader(1, 1).length;
  const blocks = bytes.length - start - 1 === GIF_IMAGE.length ? [GIF_IMAGE] : GIF_BLOCKS;
  const ends = blocks.map((_, last) => start + bytesOf(...blocks.slice(0, last + 1)).length);
  return ends.slice(blocks.indexOf(GIF_IMAGE)).includes(length);
}

const sample = (
  title: string,
  [mediaType, extension, format]: readonly [ImageMediaType, string, string],
  [width, height]: readonly [number, number],
  make: (width: number, height: number) => Uint8Array,
): SamplePicture => ({
  title,
  mediaType,
  extension,
  format,
  width,
  height,
  bytes: make(width, height),
});

const PNG = ['image/png', 'png', 'PNG'] as const;
const JPEG = ['image/jpeg', 'jpg', 'JPEG'] as const;
const WEBP = ['image/webp', 'webp', 'WebP'] as const;
const GIF = ['image/gif', 'gif', 'GIF'] as const;

/** One whole picture of each kind that a store takes. */
export const SAMPLES: readonly SamplePicture[] = [
  sample('PNG', PNG, [7, 5], pngPicture),
  sample('JPEG, baseline', JPEG, [640, 480], (width, height) =>
    bytesOf(0xff, 0xd8, frame(width, height), SCAN, 0xff, 0xd9),
  ),
  sample('JPEG, progressive', JPEG, [300, 65_535], jpegPicture),
  sample('WebP, lossy', WEBP, [16_383, 9], (width, height) => riff(vp8(width, height))),
  sample('WebP, lossless', WEBP, [258, 16_384], (width, height) => riff(vp8l(width, height))),
  sample('WebP, extended and lossy', WEBP, [70, 31], (width, height) =>
    riff(vp8x(width, height), riffChunk('ICCP', bytesOf('odd')), vp8(width, height)),
  ),
  sample('WebP, extended and lossless', WEBP, [70, 31], (width, height) =>
    riff(vp8x(width, height), vp8l(width, height), riffChunk('EXIF', bytesOf('x'))),
  ),
  sample('WebP, animated', WEBP, [66_000, 300], (width, height) =>
    riff(vp8x(width, height), riffChunk('ANIM', new Uint8Array(6)), riffChunk('ANMF', vp8(4, 4))),
  ),
  sample('GIF89a', GIF, [320, 200], gifPicture),
  sample('GIF87a', GIF, [1, 1], (width, height) =>
    bytesOf(gifHeader(width, height, '87a'), GIF_IMAGE, ';'),
  ),
];

/** One of 64 KiB, so that writing it takes more than a moment; another for each seed. */
export function largePicture(seed: number): Uint8Array {
  const picture = new Uint8Array(64 * 1024).fill(seed % 251);
  picture.set(riff(vp8(1 + (seed % 4_000), 8)));
  return picture;
}
