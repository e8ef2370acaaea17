import type { ImageRef } from '@celestea/core';
import { InMemoryAttachmentStore } from '@celestea/session';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  big,
  bytesOf,
  frame,
  GIF_IMAGE,
  gifHeader,
  gifPicture,
  isWhole,
  jpegPicture,
  little,
  PNG_SIGNATURE,
  pngChunk,
  pngHeader,
  pngPicture,
  riff,
  riffChunk,
  SAMPLES,
  SCAN,
  segment,
  vp8,
  vp8l,
  vp8x,
} from './support/pictures.ts';

const put = (bytes: Uint8Array): Promise<ImageRef> => new InMemoryAttachmentStore().put(bytes);

/** The message of the `TypeError` that bytes are refused with. */
async function refusal(bytes: Uint8Array): Promise<string> {
  const error: unknown = await put(bytes).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TypeError);
  return (error as TypeError).message;
}

/** Every outcome that is allowed for whatever bytes: a sound reference, or a documented error. */
async function expectSound(bytes: Uint8Array): Promise<void> {
  const outcome: unknown = await put(bytes).catch((error: unknown) => error);
  if (!(outcome instanceof Error)) {
    const { width, height } = outcome as ImageRef;
    expect(Number.isSafeInteger(width) && width > 0).toBe(true);
    expect(Number.isSafeInteger(height) && height > 0).toBe(true);
    return;
  }
  const { message } = outcome;
  if (outcome instanceof RangeError) {
    expect(message).toMatch(/^bytes: expected a picture of at most \d+ pixels \(maxPixels\), got /);
  } else {
    expect(outcome).toBeInstanceOf(TypeError);
    expect(message).toMatch(/^bytes: expected a (PNG, JPEG, WebP or GIF|whole \w+) picture, got /);
    expect(message).toContain(`got ${String(bytes.length)} bytes`);
  }
}

describe.each(SAMPLES)('$title', (sample) => {
  const { mediaType, format, width, height, bytes } = sample;
  const known = { media_type: mediaType, width, height };

  test('is known by its bytes, and its size is read', async () => {
    expect(await put(bytes)).toEqual({ ...known, attachment_id: expect.any(String) as string });
  });

  test('is one also when more bytes follow', async () => {
    expect(await put(bytesOf(bytes, 0xff, 0, 'more'))).toMatchObject(known);
  });

  test('is none when it is cut off, wherever', async () => {
    const expected = new RegExp(`^bytes: expected a (whole ${format}|PNG, JPEG, WebP or GIF) pict`);
    for (let length = 0; length < bytes.length; length += 1) {
      const cut = bytes.subarray(0, length);
      if (isWhole(sample, length)) expect(await put(cut), String(length)).toMatchObject(known);
      else expect(await refusal(cut), String(length)).toMatch(expected);
    }
  });

  test('gives a documented error or a sound size when bits of it are flipped', async () => {
    const flips = fc.array(fc.nat(bytes.length * 8 - 1), { minLength: 1, maxLength: 6 });
    const property = fc.asyncProperty(flips, async (places) => {
      const flipped = bytes.slice();
      for (const place of places) {
        const at = Math.floor(place / 8);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << (place % 8));
      }
      await expectSound(flipped);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  test('gives the same when any four bytes of it are the largest number there is', async () => {
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = bytes.slice();
      changed.fill(0xff, at, at + 4);
      await expectSound(changed);
      await expectSound(changed.fill(0, at, at + 4));
    }
  });
});

test('random bytes give a documented error, whatever they start with', async () => {
  const webp = 'RIFF\x40\0\0\0WEBP';
  const starts = ['', '\xff\xd8\xff', 'GIF89a', 'GIF87a', webp, `${webp}VP8X`];
  const start = fc.constantFrom(...starts.map((text) => bytesOf(text)), PNG_SIGNATURE);
  const rest = fc.uint8Array({ maxLength: 200 });
  const property = fc.asyncProperty(start, rest, (first, second) =>
    expectSound(bytesOf(first, second)),
  );
  await fc.assert(property, { numRuns: 2_000 });
});

test('parts in any order give a documented error or a sound size', async () => {
  const part = (...parts: readonly Uint8Array[]): fc.Arbitrary<Uint8Array[]> =>
    fc.array(fc.oneof(fc.constantFrom(...parts), fc.uint8Array({ maxLength: 3 })), {
      maxLength: 8,
    });
  const file = fc.oneof(
    part(pngHeader(2, 2), pngChunk('IDAT', bytesOf(1)), pngChunk('IEND', bytesOf())).map((parts) =>
      bytesOf(PNG_SIGNATURE, ...parts),
    ),
    part(frame(2, 2), SCAN, segment(0xc4, SCAN), bytesOf(0xff, 0xd9)).map((parts) =>
      bytesOf(0xff, 0xd8, ...parts),
    ),
    part(vp8(2, 2), vp8l(2, 2), vp8x(2, 2), riffChunk('ANMF', bytesOf(1))).map((parts) =>
      riff(...parts),
    ),
    part(GIF_IMAGE, bytesOf(0x21, 1, 1, 1, 0), bytesOf(0x3b)).map((parts) =>
      bytesOf(gifHeader(2, 2), ...parts),
    ),
  );
  await fc.assert(fc.asyncProperty(file, expectSound), { numRuns: 2_000 });
});

test.each([
  ['nothing', bytesOf(), 'got 0 bytes'],
  ['one byte', bytesOf('G'), 'got 1 bytes that start with 47'],
  ['a PDF', bytesOf('%PDF-1.7 abc'), 'got 12 bytes that start with 25 50 44 46'],
  ['an SVG', bytesOf('<svg/>'), 'got 6 bytes that start with 3c 73 76 67'],
  ['a WAV', bytesOf('RIFF', little(4, 4), 'WAVE'), 'got 12 bytes that start with 52 49 46 46'],
  ['a BMP', bytesOf('BM', new Uint8Array(60)), 'got 62 bytes that start with 42 4d 00 00'],
])('%s is refused, and the error says what came', async (_, bytes, came) => {
  const message = `bytes: expected a PNG, JPEG, WebP or GIF picture, ${came}`;
  expect(await refusal(bytes)).toBe(message);
});

const END = pngChunk('IEND', bytesOf());
const JPEG_END = bytesOf(0xff, 0xd9);
const jpeg = (...parts: readonly Uint8Array[]): Uint8Array =>
  bytesOf(0xff, 0xd8, ...parts, JPEG_END);
const gif = (...parts: readonly (number | Uint8Array)[]): Uint8Array =>
  bytesOf(gifHeader(2, 2), ...parts);
const noKeyFrame = riffChunk('VP8 ', bytesOf(1, 0, 0, 0x9d, 1, 0x2a, 1, 0, 1, 0));
const noStartCode = riffChunk('VP8 ', bytesOf(0, 0, 0, 0x9d, 1, 0x2b, 1, 0, 1, 0));

test.each([
  ['PNG', 'a size of 0 x 5 pixels', pngPicture(0, 5)],
  ['PNG', 'there is no IDAT chunk', bytesOf(PNG_SIGNATURE, pngHeader(1, 1), END)],
  ['PNG', 'the first chunk is no IHDR', bytesOf(PNG_SIGNATURE, END, pngHeader(1, 1))],
  [
    'PNG',
    'the first chunk is no IHDR',
    bytesOf(PNG_SIGNATURE, pngChunk('IHDR', new Uint8Array(14))),
  ],
  [
    'PNG',
    `they end before byte ${String(33 + 12 + 2 ** 32 - 1)}`,
    bytesOf(PNG_SIGNATURE, pngHeader(1, 1), big(2 ** 32 - 1, 4), 'IDAT'),
  ],
  ['JPEG', 'a size of 4 x 0 pixels', jpeg(frame(4, 0), SCAN)],
  ['JPEG', 'there is no frame header', jpeg(SCAN)],
  ['JPEG', 'there is no scan', jpeg(frame(4, 4))],
  ['JPEG', 'there are two frame headers', jpeg(frame(4, 4), frame(4, 4), SCAN)],
  ['JPEG', 'the frame header is too short', jpeg(segment(0xc0, bytesOf(8, 0, 1, 0, 1)), SCAN)],
  ['JPEG', 'a segment of 1 bytes', jpeg(bytesOf(0xff, 0xe0, 0, 1))],
  ['JPEG', 'there is no frame header', jpeg(segment(0xc4, frame(4, 4)), SCAN)],
  ['JPEG', 'they end before byte 65539', jpeg(bytesOf(0xff, 0xe0, 0xff, 0xff))],
  ['JPEG', 'they end before byte 5', bytesOf(0xff, 0xd8, 0xff, 0xff)],
  ['JPEG', 'they end before the picture does', bytesOf(0xff, 0xd8, frame(4, 4), SCAN)],
  ['WebP', 'a size of 0 x 9 pixels', riff(vp8(0, 9))],
  ['WebP', 'the first chunk is no VP8, VP8L or VP8X', riff(riffChunk('ALPH', vp8(1, 1)))],
  ['WebP', 'the VP8 chunk starts with no key frame', riff(noKeyFrame)],
  ['WebP', 'the VP8 chunk starts with no key frame', riff(noStartCode)],
  ['WebP', 'the VP8 chunk is too short', riff(riffChunk('VP8 ', new Uint8Array(9)))],
  ['WebP', 'the VP8L chunk is too short', riff(riffChunk('VP8L', new Uint8Array(4)))],
  ['WebP', 'the VP8L chunk is of no known version', riff(riffChunk('VP8L', new Uint8Array(5)))],
  [
    'WebP',
    'the VP8L chunk is of no known version',
    riff(riffChunk('VP8L', bytesOf(0x2f, 0, 0, 0, 0x20))),
  ],
  ['WebP', 'the VP8X chunk is too short', riff(riffChunk('VP8X', new Uint8Array(9)))],
  ['WebP', 'there is no image', riff(vp8x(4, 4))],
  ['WebP', 'there is no image', riff(vp8x(4, 4), riffChunk('EXIF', vp8(4, 4)))],
  ['WebP', 'image and canvas have different sizes', riff(vp8x(4, 4), vp8(4, 5))],
  ['WebP', 'image and canvas have different sizes', riff(vp8x(4, 4), vp8l(9_000, 4))],
  [
    'WebP',
    'a chunk is longer than the file says',
    riff(vp8x(4, 4), bytesOf('EXIF', little(2 ** 32 - 1, 4))),
  ],
  [
    'WebP',
    `they end before byte ${String(2 ** 32 + 7)}`,
    bytesOf('RIFF', little(2 ** 32 - 1, 4), 'WEBP', vp8(4, 4)),
  ],
  [
    'WebP',
    'a chunk is longer than the file says',
    bytesOf('RIFF', little(4, 4), 'WEBP', vp8(4, 4)),
  ],
  ['GIF', 'a size of 4 x 0 pixels', gifPicture(4, 0)],
  ['GIF', 'there is no image', gif(0x3b)],
  ['GIF', 'there is no image', gif(0x21, 0xfe, 1, 0x2c, 0, 0x3b)],
  ['GIF', 'byte 47 starts no block', gif(GIF_IMAGE, 0, 0x3b)],
  ['GIF', 'they end before byte 305', gif(GIF_IMAGE, 0x21, 0xfe, 255, 0x3b)],
])('a broken %s is refused: %s', async (format, fault, bytes) => {
  const expected = `bytes: expected a whole ${format} picture, got ${String(bytes.length)} bytes`;
  expect(await refusal(bytes)).toBe(`${expected}: ${fault}`);
});

describe('a picture of as many parts as fit in', () => {
  const MANY = 5 * 1024 * 1024 - 64;
  const repeated = (part: Uint8Array): Uint8Array =>
    new Uint8Array(Math.floor(MANY / part.length) * part.length).map(
      (_, at) => part[at % part.length] ?? 0,
    );
  /** `bytesOf` is for small ones. */
  const joined = (...parts: readonly Uint8Array[]): Uint8Array =>
    new Uint8Array(Buffer.concat(parts));

  test.each([
    ['PNG', joined(PNG_SIGNATURE, pngHeader(1, 1), repeated(pngChunk('IDAT', bytesOf())), END)],
    ['JPEG', joined(bytesOf(0xff, 0xd8, frame(1, 1), SCAN), repeated(bytesOf(0xff, 0)), JPEG_END)],
    ['JPEG', joined(bytesOf(0xff, 0xd8, frame(1, 1), SCAN), repeated(bytesOf(0xff)), JPEG_END)],
    ['GIF', joined(gif(GIF_IMAGE), repeated(bytesOf(0x21, 1, 0)), bytesOf(0x3b))],
  ])('is read in one pass: %s', async (_, bytes) => {
    expect(bytes.length).toBeGreaterThan(5_000_000);
    expect(await put(bytes)).toMatchObject({ width: expect.any(Number) as number });
  });
});

test('the size of a JPEG is as stored: an orientation is not applied', async () => {
  expect(await put(jpegPicture(40, 30))).toMatchObject({ width: 40, height: 30 });
});
