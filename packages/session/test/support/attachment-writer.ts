/**
 * A process that puts pictures into the folder it is given, the same ones that every other such
 * process puts. For a line `together 5` it puts the first five at once and answers with their
 * ids; for `one by one 5` it answers with the id of each when it was put.
 */
import { createInterface } from 'node:readline';

import { FileAttachmentStore } from '../../src/index.ts';
import { largePicture } from './pictures.ts';

const [folder = ''] = process.argv.slice(2);
const store = new FileAttachmentStore(folder);

const put = async (seed: number): Promise<string> =>
  (await store.put(largePicture(seed))).attachment_id;

for await (const line of createInterface({ input: process.stdin })) {
  const [, how, count] = /^(.*) (\d+)$/.exec(line) ?? [];
  const seeds = Array.from({ length: Number(count) }, (_, seed) => seed);
  if (how === 'together') {
    process.stdout.write(`${(await Promise.all(seeds.map(put))).join(' ')}\n`);
  } else {
    for (const seed of seeds) process.stdout.write(`${await put(seed)}\n`);
  }
}
