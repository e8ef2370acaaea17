import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, relative } from 'node:path';

import {
  attachmentsFolderOf,
  FileAttachmentStore,
  JsonlSessionLog,
  type AttachmentStoreOptions,
} from '@celestea/session';
import { describe, expect, test } from 'vitest';

import { openDescriptors } from './support/descriptors.ts';
import { testFile, testFolder } from './support/folder.ts';
import { kept, PICTURE } from './support/kept-picture.ts';
import { pngPicture, SAMPLES } from './support/pictures.ts';

test.each(SAMPLES)('a file is named after its content: $title', async ({ bytes, extension }) => {
  const store = new FileAttachmentStore(join(testFolder(), 'attachments'));
  const ref = await store.put(bytes, { name: '../../elsewhere.exe' });
  const name = `${ref.attachment_id}.${extension}`;
  expect(readdirSync(store.folder)).toEqual([name]);
  expect(new Uint8Array(readFileSync(join(store.folder, name)))).toEqual(bytes);
});

test('the folder is made by the first put, with those above it', async () => {
  const top = testFolder();
  const store = new FileAttachmentStore(join(top, 'a', 'b', 'attachments'));
  expect(await store.read({ ...(await kept()).ref })).toBe(null);
  await expect(store.put(Buffer.from('no picture'))).rejects.toThrow(TypeError);
  expect(readdirSync(top)).toEqual([]);
  await store.put(PICTURE);
  expect(readdirSync(join(top, 'a', 'b', 'attachments'))).toHaveLength(1);
  rmSync(join(top, 'a'), { recursive: true });
  await store.put(PICTURE);
  expect(readdirSync(join(top, 'a', 'b', 'attachments'))).toHaveLength(1);
});

test('another store finds what one has kept, and writes it no second time', async () => {
  const { store, ref, path } = await kept();
  const { ino, mtimeNs } = statSync(path, { bigint: true });
  const other = new FileAttachmentStore(store.folder);
  expect(await other.read(ref)).toEqual(PICTURE);
  expect(await other.put(PICTURE)).toEqual(ref);
  expect(await store.put(PICTURE)).toEqual(ref);
  expect(statSync(path, { bigint: true })).toMatchObject({ ino, mtimeNs });
  expect(readdirSync(store.folder)).toHaveLength(1);
});

test('folder and files get the mode that the umask leaves, as the log does', async () => {
  const log = await JsonlSessionLog.open(testFile());
  const store = new FileAttachmentStore(attachmentsFolderOf(log.path));
  const { attachment_id: id } = await store.put(PICTURE);
  await log.close();
  const mode = (path: string): number => statSync(path).mode & 0o777;
  expect(mode(join(store.folder, `${id}.png`))).toBe(mode(log.path));
  const other = join(dirname(log.path), 'other');
  mkdirSync(other);
  expect(mode(store.folder)).toBe(mode(other));
});

test('no descriptor is left open', async () => {
  const { store, ref, path } = await kept();
  const before = openDescriptors();
  await Promise.all([store.put(pngPicture(2, 2)), store.put(PICTURE), store.read(ref)]);
  writeFileSync(path, 'other');
  await store.read(ref);
  expect(openDescriptors()).toBe(before);
});

describe('a damaged file', () => {
  const cutTo = (length: number) => (path: string) => {
    truncateSync(path, length);
  };
  const filledWith = (bytes: Uint8Array) => (path: string) => {
    writeFileSync(path, bytes);
  };
  const damages: readonly [string, (path: string) => void][] = [
    ['is empty', cutTo(0)],
    ['was cut short', cutTo(PICTURE.length - 1)],
    ['has more bytes', filledWith(Buffer.concat([PICTURE, PICTURE]))],
    ['holds another picture', filledWith(pngPicture(7, 4))],
    ['is larger than anything that is read', cutTo(2 ** 40)],
  ];

  test.each(damages)('reads as missing, and the next put replaces it: it %s', async (_, damage) => {
    const { store, ref, path } = await kept();
    damage(path);
    expect(await store.read(ref)).toBe(null);
    expect(await store.put(PICTURE)).toEqual(ref);
    expect(await store.read(ref)).toEqual(PICTURE);
    expect(readdirSync(store.folder)).toHaveLength(1);
  });
});

test('a picture larger than the limit of now is still read', async () => {
  const { store, ref } = await kept();
  const smaller = new FileAttachmentStore(store.folder, { maxBytes: 1, maxPixels: 1 });
  await expect(smaller.put(PICTURE)).rejects.toThrow(RangeError);
  expect(await smaller.read(ref)).toEqual(PICTURE);
});

describe('what is no file of the folder', () => {
  test('a link is not followed, not even to the same picture', async () => {
    const { store, ref, path } = await kept();
    const outside = testFile('secret.png');
    writeFileSync(outside, PICTURE);
    rmSync(path);
    symlinkSync(outside, path);
    expect(await store.read(ref)).toBe(null);
    await store.put(PICTURE);
    expect(lstatSync(path).isFile()).toBe(true);
    expect(await store.read(ref)).toEqual(PICTURE);
    expect(new Uint8Array(readFileSync(outside))).toEqual(PICTURE);
  });

  test('a link to a file that is not there is replaced, and nothing is made there', async () => {
    const { store, ref, path } = await kept();
    const outside = testFile('new.png');
    rmSync(path);
    symlinkSync(outside, path);
    expect(await store.read(ref)).toBe(null);
    await store.put(PICTURE);
    expect(existsSync(outside)).toBe(false);
    expect(await store.read(ref)).toEqual(PICTURE);
  });

  test.runIf(process.platform !== 'win32')('a pipe is not waited for', async () => {
    const { store, ref, path } = await kept();
    rmSync(path);
    execFileSync('mkfifo', [path], { stdio: 'ignore' });
    expect(await store.read(ref)).toBe(null);
    await store.put(PICTURE);
    expect(await store.read(ref)).toEqual(PICTURE);
  });

  test.runIf(process.platform !== 'win32')('a socket', async () => {
    const { store, ref, path } = await kept();
    // The path that a socket is made at has to be short.
    const made = join(testFolder(), 's');
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(made, resolve);
    });
    renameSync(made, path);
    expect(await store.read(ref)).toBe(null);
    await new Promise((resolve) => server.close(resolve));
    await store.put(PICTURE);
    expect(await store.read(ref)).toEqual(PICTURE);
  });

  test('a folder of that name reads as missing, and cannot be replaced', async () => {
    const { store, ref, path } = await kept();
    rmSync(path);
    mkdirSync(path);
    expect(await store.read(ref)).toBe(null);
    const error = store.put(PICTURE);
    await expect(error).rejects.toThrow(`${path}: the picture cannot be kept: `);
    expect(readdirSync(store.folder)).toHaveLength(1);
  });

  test('files of other names are left alone, and an unfinished one is no picture', async () => {
    const { store, ref, path } = await kept();
    const part = `${path}.1234.part`;
    writeFileSync(part, PICTURE);
    rmSync(path);
    expect(await store.read(ref)).toBe(null);
    await store.put(PICTURE);
    expect(readdirSync(store.folder)).toHaveLength(2);
    expect(existsSync(part)).toBe(true);
  });
});

describe('a folder that cannot be written', () => {
  test('because a file stands in its way: put says so, read finds nothing', async () => {
    const file = testFile('attachments');
    writeFileSync(file, 'mine');
    const { ref } = await kept();
    for (const folder of [file, join(file, 'below')]) {
      const store = new FileAttachmentStore(folder);
      const path = join(folder, `${ref.attachment_id}.png`);
      await expect(store.put(PICTURE)).rejects.toThrow(`${path}: the picture cannot be kept: E`);
      expect(await store.read(ref)).toBe(null);
    }
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  // Nothing is forbidden to root.
  test.skipIf(process.getuid?.() === 0)('because of its mode: the system says so', async () => {
    const folder = testFolder();
    chmodSync(folder, 0o500);
    const error: unknown = await new FileAttachmentStore(folder)
      .put(PICTURE)
      .catch((reason: unknown) => reason);
    chmodSync(folder, 0o700);
    expect(error).toMatchObject({
      message: expect.stringContaining('the picture cannot be kept: EACCES') as string,
      cause: { code: 'EACCES' },
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('where it is', () => {
  test('the folder is absolute from the start', () => {
    expect(new FileAttachmentStore('some/where').folder).toBe(join(process.cwd(), 'some', 'where'));
  });

  test.each([undefined, null, '', 7, 'a\0b'])('a folder that is no path is refused: %j', (path) => {
    expect(() => new FileAttachmentStore(path as string)).toThrow(
      /^folder: expected the path of a folder, got /,
    );
    expect(() => attachmentsFolderOf(path as string)).toThrow(
      /^logFile: expected a file path, got /,
    );
  });

  test('options are checked before any disk is touched', () => {
    const options: AttachmentStoreOptions = { maxBytes: -1 };
    expect(() => new FileAttachmentStore('/nowhere', options)).toThrow(TypeError);
  });

  test('the pictures of a log are beside it, by whichever name it is opened', async () => {
    const path = testFile();
    const beside = join(dirname(path), 'attachments');
    expect(attachmentsFolderOf(path)).toBe(beside);
    const log = await JsonlSessionLog.open(path);
    await log.close();
    expect(attachmentsFolderOf(log.path)).toBe(beside);
    const link = testFile('link.jsonl');
    symlinkSync(path, link);
    expect(attachmentsFolderOf(link)).toBe(beside);
    expect(attachmentsFolderOf(relative('.', path))).toBe(beside);
    expect(existsSync(beside)).toBe(false);
  });

  test('the folder of the log has to be there', () => {
    expect(() => attachmentsFolderOf(join(testFolder(), 'none', 'log.jsonl'))).toThrow(/ENOENT/);
  });

  test('C4.2 a fork keeps its pictures', async () => {
    const log = await JsonlSessionLog.open(testFile());
    const store = new FileAttachmentStore(attachmentsFolderOf(log.path));
    const ref = await store.put(PICTURE, { name: 'cat.png' });
    log.append({ type: 'turn_start', id: 'turn-0' });
    log.append({ type: 'user_message', text: 'look', attachments: [ref] });
    log.append({ type: 'turn_end', id: 'turn-0', outcome: 'completed' });
    const fork = await log.fork(join(dirname(log.path), 'fork.jsonl'), 'turn-0');
    const row = fork.events()[1];
    expect(row).toMatchObject({ attachments: [ref] });
    const ofFork = new FileAttachmentStore(attachmentsFolderOf(fork.path));
    expect(await ofFork.read(ref)).toEqual(PICTURE);
    await Promise.all([log.close(), fork.close()]);
  });
});
