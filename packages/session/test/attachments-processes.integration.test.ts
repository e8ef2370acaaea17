import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { FileAttachmentStore } from '@celestea/session';
import { expect, test } from 'vitest';

import { Child, compiled } from './support/child.ts';
import { quickFile } from './support/folder.ts';
import { largePicture } from './support/pictures.ts';

const script = compiled('attachment-writer');

/** Quick also for many bytes. */
function expectSame(read: Uint8Array | null, bytes: Uint8Array): void {
  expect(Buffer.compare(read ?? Buffer.of(), bytes)).toBe(0);
}

/** The ids of all files that count; each has to be whole. */
function wholeFiles(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => !name.endsWith('.part'));
  return names.map((name) => {
    const [id = '', extension] = name.split('.');
    expect(extension).toBe('webp');
    const bytes = readFileSync(join(folder, name));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(id);
    return id;
  });
}

test('processes that put the same pictures at once have one file for each', async () => {
  const folder = quickFile('attachments');
  const children = [1, 2, 3].map(() => new Child(script, [folder]));
  const store = new FileAttachmentStore(folder);
  for (const child of children) child.send('together 12');
  const seeds = Array.from({ length: 12 }, (_, seed) => seed);
  const refs = await Promise.all(seeds.map((seed) => store.put(largePicture(seed))));
  const ids = refs.map((ref) => ref.attachment_id);
  for (const child of children) {
    expect(await child.line()).toBe(ids.join(' '));
    expect(await child.end()).toEqual({ code: 0, signal: null, stderr: '' });
  }
  expect(readdirSync(folder).sort()).toEqual(ids.map((id) => `${id}.webp`).sort());
  expect(new Set(wholeFiles(folder))).toEqual(new Set(ids));
  for (const [seed, ref] of refs.entries()) {
    expectSame(await store.read(ref), largePicture(seed));
  }
});

test('after SIGKILL every picture that was put is there, and no part counts as one', async () => {
  for (let kill = 0; kill < 6; kill += 1) {
    const folder = quickFile('attachments');
    const child = new Child(script, [folder]);
    child.send('one by one 200');
    const put: (string | null)[] = [];
    for (let count = 0; count < 1 + kill * 3; count += 1) put.push(await child.line());
    expect(await child.kill()).toEqual({ code: null, signal: 'SIGKILL', stderr: '' });
    expect(wholeFiles(folder)).toEqual(expect.arrayContaining(put));
    // Whatever it left, the next one puts and reads.
    const store = new FileAttachmentStore(folder);
    for (let seed = 0; seed < 20; seed += 1) {
      const ref = await store.put(largePicture(seed));
      expectSame(await store.read(ref), largePicture(seed));
    }
  }
});
