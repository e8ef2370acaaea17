import { createHash } from 'node:crypto';
import { join } from 'node:path';

import type { AttachmentStore, ImageRef } from '@celestea/core';
import {
  FileAttachmentStore,
  InMemoryAttachmentStore,
  type AttachmentStoreOptions,
} from '@celestea/session';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { testFolder } from './support/folder.ts';
import { bytesOf, pngPicture, riff, riffChunk, SAMPLES, vp8x } from './support/pictures.ts';

const PICTURE = pngPicture(7, 5);
const REF: ImageRef = {
  attachment_id: createHash('sha256').update(PICTURE).digest('hex'),
  media_type: 'image/png',
  width: 7,
  height: 5,
};

const ANMF = riffChunk('ANMF', bytesOf(0));

const stores: readonly [string, (options?: AttachmentStoreOptions) => AttachmentStore][] = [
  ['FileAttachmentStore', (options) => new FileAttachmentStore(join(testFolder(), 'a'), options)],
  ['InMemoryAttachmentStore', (options) => new InMemoryAttachmentStore(options)],
];

describe.each(stores)('%s', (_, make) => {
  test.each(SAMPLES)('keeps a picture under the hash of its bytes: $title', async (sample) => {
    const store = make();
    const { mediaType, width, height, bytes } = sample;
    const ref = await store.put(bytes);
    const id = createHash('sha256').update(bytes).digest('hex');
    expect(ref).toEqual({ attachment_id: id, media_type: mediaType, width, height });
    const read = await store.read(ref);
    expect(read).toEqual(bytes);
    expect(read).toBeInstanceOf(Uint8Array);
  });

  test('the same bytes give the same reference, whatever they are called', async () => {
    const store = make();
    expect(await store.put(PICTURE)).toEqual(REF);
    expect(await store.put(PICTURE, { name: 'one.gif' })).toEqual({ ...REF, name: 'one.gif' });
    expect(await store.put(PICTURE, {})).toEqual(REF);
    expect(await store.read(REF)).toEqual(PICTURE);
  });

  test('takes part of a buffer, and a Buffer', async () => {
    const store = make();
    const around = Buffer.concat([Buffer.from('before'), PICTURE, Buffer.from('behind')]);
    const ref = await store.put(around.subarray(6, 6 + PICTURE.length));
    expect(ref).toEqual(REF);
    const read = await store.read(ref);
    expect(read).toEqual(PICTURE);
    expect(Buffer.isBuffer(read)).toBe(false);
  });

  test('what was given and what was read may be changed', async () => {
    const store = make();
    const given = PICTURE.slice();
    const putting = store.put(given);
    given.fill(0);
    expect(await putting).toEqual(REF);
    (await store.read(REF))?.fill(0);
    expect(await store.read(REF)).toEqual(PICTURE);
  });

  test('a reference may be changed: another one is not', async () => {
    const store = make();
    const ref = await store.put(PICTURE);
    ref.width = 0;
    ref.attachment_id = '';
    expect(await store.put(PICTURE)).toEqual(REF);
  });

  test('pictures that are put at once, the same and others', async () => {
    const store = make();
    const pictures = Array.from({ length: 8 }, (_, grey) => pngPicture(3, 3, grey));
    const puts = [...pictures, ...pictures, ...pictures].map((bytes) => store.put(bytes));
    const refs = await Promise.all(puts);
    expect(new Set(refs.map((ref) => ref.attachment_id)).size).toBe(8);
    for (const [index, ref] of refs.entries()) {
      expect(await store.read(ref)).toEqual(pictures[index % 8]);
    }
  });

  test('has nothing for a reference that it did not give', async () => {
    const store = make();
    expect(await store.read(REF)).toBe(null);
    await store.put(PICTURE);
    expect(await store.read({ ...REF, attachment_id: 'a'.repeat(64) })).toBe(null);
    expect(await store.read({ ...REF, media_type: 'image/gif' })).toBe(null);
  });

  test('size and name of a reference do not matter to what is read', async () => {
    const store = make();
    await store.put(PICTURE);
    expect(await store.read({ ...REF, width: NaN, height: -1, name: '../x' })).toEqual(PICTURE);
  });

  const hash = REF.attachment_id;
  test.each([
    ...['', '.', '..', '../secret', `../${hash}`, `./${hash}`, `/${hash}`, `${hash}/`],
    ...[`${hash}.png`, `${hash}\0`, `${hash}\n`, ` ${hash}`, hash.slice(1), `${hash}0`],
    ...[hash.toUpperCase(), `g${hash.slice(1)}`, '\u0660'.repeat(64), '0'.repeat(63)],
    ...['/dev/zero', 'a/'.repeat(32), '..\\'.repeat(21) + 'a', '__proto__', 7, null, undefined],
    ...[[hash], { toString: () => hash }],
  ])('an id that is none reads as missing: %j', async (id) => {
    const store = make();
    await store.put(PICTURE);
    expect(await store.read({ ...REF, attachment_id: id } as ImageRef)).toBe(null);
  });

  test.each(['image/svg+xml', '', 'png', '/../../x', 'toString', '__proto__', null, undefined])(
    'a media type that is none reads as missing: %j',
    async (type) => {
      const store = make();
      await store.put(PICTURE);
      expect(await store.read({ ...REF, media_type: type } as ImageRef)).toBe(null);
    },
  );

  test.each([null, undefined, 'ref', 7, [], [REF]])(
    'what is no reference reads as missing: %j',
    async (ref) => {
      expect(await make().read(ref as unknown as ImageRef)).toBe(null);
    },
  );

  test.each([
    [null, 'null'],
    [undefined, 'undefined'],
    ['data', '"data"'],
    [[137, 80], 'an array'],
    [PICTURE.buffer, 'an object'],
    [new Uint16Array(9), 'an object'],
  ])('bytes that are none are refused: %j', async (bytes, came) => {
    const putting = make().put(bytes as unknown as Uint8Array);
    const error = new TypeError(`bytes: expected a Uint8Array, got ${came}`);
    await expect(putting).rejects.toThrow(error);
  });

  test('what is no picture is refused, and not kept', async () => {
    const store = make();
    const putting = store.put(Buffer.from('%PDF-1.7 abc'), { name: 'photo.png' });
    const message =
      'bytes: expected a PNG, JPEG, WebP or GIF picture, got 12 bytes that start with 25 50 44 46';
    await expect(putting).rejects.toThrow(new TypeError(message));
  });

  test('options of a put that do not fit are refused', async () => {
    const store = make();
    const put = (options: unknown): Promise<ImageRef> =>
      store.put(PICTURE, options as { name?: string });
    await expect(put({ name: 7 })).rejects.toThrow(
      new TypeError('name: expected a string, got 7'),
    );
    await expect(put({ name: null })).rejects.toThrow(/^name: expected a string, got null/);
    await expect(put(null)).rejects.toThrow(/^options: expected an object such as /);
    await expect(put('a.png')).rejects.toThrow(/^options: .*, got "a\.png"$/);
    expect(await put({ name: undefined })).toEqual(REF);
  });

  test('a picture of as many bytes as the limit is taken, one more is not', async () => {
    expect(await make({ maxBytes: PICTURE.length }).put(PICTURE)).toEqual(REF);
    const store = make({ maxBytes: PICTURE.length - 1 });
    const [most, size] = [String(PICTURE.length - 1), String(PICTURE.length)];
    const message = `bytes: expected at most ${most} bytes (maxBytes), got ${size}`;
    await expect(store.put(PICTURE)).rejects.toThrow(new RangeError(message));
    expect(await store.read(REF)).toBe(null);
  });

  test('a picture of as many pixels as the limit is taken, one more is not', async () => {
    expect(await make({ maxPixels: 35 }).put(PICTURE)).toEqual(REF);
    const store = make({ maxPixels: 34 });
    const message = 'bytes: expected a picture of at most 34 pixels (maxPixels), got 7 x 5';
    await expect(store.put(PICTURE)).rejects.toThrow(new RangeError(message));
    expect(await store.read(REF)).toBe(null);
  });

  test('unless set, the limits are 5 MiB and 40 million pixels', async () => {
    const store = make();
    const large = new Uint8Array(5 * 1024 * 1024 + 1);
    large.set(PICTURE);
    expect(await store.put(large.subarray(0, -1))).toMatchObject({ width: 7 });
    await expect(store.put(large)).rejects.toThrow('at most 5242880 bytes (maxBytes), got 5242881');
    const ofSize = (width: number, height: number): Uint8Array => riff(vp8x(width, height), ANMF);
    expect(await store.put(ofSize(8_000, 5_000))).toMatchObject({ width: 8_000 });
    const message = 'at most 40000000 pixels (maxPixels), got 8000 x 5001';
    await expect(store.put(ofSize(8_000, 5_001))).rejects.toThrow(message);
  });

  test.each(['maxBytes', 'maxPixels'])('%s is a whole number from 1 up', (name) => {
    for (const value of [0, -1, 1.5, NaN, Infinity, 2 ** 53, '5', null, {}, true]) {
      const options = { [name]: value } as AttachmentStoreOptions;
      expect(() => make(options)).toThrow(TypeError);
      expect(() => make(options)).toThrow(
        new RegExp(`^${name}: expected a whole number from 1 up, got `),
      );
    }
    make({ [name]: undefined });
  });

  test.each([null, 7, 'x'])('options that are no object are refused: %j', (options) => {
    expect(() => make(options as unknown as AttachmentStoreOptions)).toThrow(
      /^options: expected an object such as \{ maxBytes: 1000000 \}, got /,
    );
  });

  test.each([
    ['cat.png', 'cat.png'],
    ['/home/me/Bilder/Kätzchen 1.png', 'Kätzchen 1.png'],
    ['C:\\Users\\me\\cat.png', 'cat.png'],
    ['../../etc\\..//x.png', 'x.png'],
    ['  two\n lines\t\x1b[31m.png\x7f\x85 ', 'two lines[31m.png'],
    ['a\u2028b\u2029c', 'abc'],
    ['evil\u202egnp.exe\u2066\u200f', 'evilgnp.exe'],
    ['\ud83d.png', '\ufffd.png'],
    ['👨‍👩‍👧.png', '👨‍👩‍👧.png'],
    ['.hidden', '.hidden'],
    ['', undefined],
    ['folder/', undefined],
    ['a/..', undefined],
    ['.', undefined],
    ['\0\n ', undefined],
  ])('the name %j is kept as %j', async (name, kept) => {
    const ref = await make().put(PICTURE, { name });
    expect(ref).toEqual(kept === undefined ? REF : { ...REF, name: kept });
    expect('name' in ref).toBe(kept !== undefined);
  });

  test('of a long name the start and the end are kept', async () => {
    const { name = '' } = await make().put(PICTURE, { name: `${'漢'.repeat(200)}.png` });
    expect(name).toMatch(/^漢{73}…漢{9}\.png$/);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  });

  test('a name is short, on one line and well-formed, whatever was given', async () => {
    const store = make();
    const unit = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code).repeat(30)),
    );
    const property = fc.asyncProperty(fc.array(unit, { maxLength: 20 }), async (parts) => {
      const { name } = await store.put(PICTURE, { name: parts.join('') });
      if (name === undefined) return;
      expect(name).toBe(name.toWellFormed());
      expect(name).not.toMatch(/[\p{Cc}\u2028\u2029/\\]/u);
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
      expect(['', '.', '..']).not.toContain(name);
    });
    await fc.assert(property, { numRuns: 100 });
  });
});
