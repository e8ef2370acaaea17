import { join } from 'node:path';

import type { ImageRef } from '@celestea/core';
import { FileAttachmentStore } from '@celestea/session';

import { testFolder } from './folder.ts';
import { pngPicture } from './pictures.ts';

export const PICTURE = pngPicture(7, 5);

export interface KeptPicture {
  readonly store: FileAttachmentStore;
  readonly ref: ImageRef;
  /** Where its file is. */
  readonly path: string;
}

/** {@link PICTURE} in a new store. */
export async function kept(): Promise<KeptPicture> {
  const store = new FileAttachmentStore(join(testFolder(), 'attachments'));
  const ref = await store.put(PICTURE);
  return { store, ref, path: join(store.folder, `${ref.attachment_id}.png`) };
}
