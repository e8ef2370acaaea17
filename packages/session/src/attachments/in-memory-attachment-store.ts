import type { AttachmentStore, ImageRef } from '@celestea/core';

import { checkLimits } from './attachment-limits.ts';
import type { AttachmentLimits, AttachmentStoreOptions } from './attachment-limits.ts';
import { addressOf, makeAttachment } from './attachment.ts';

/** Pictures that live as long as their process; none is forgotten before. */
export class InMemoryAttachmentStore implements AttachmentStore {
  readonly #limits: AttachmentLimits;
  /** By the name that its file would have, which says id and media type. */
  readonly #kept: Map<string, Uint8Array> = new Map<string, Uint8Array>();

  /** Throws a `TypeError` when an option does not fit. */
  constructor(options: AttachmentStoreOptions = {}) {
    this.#limits = checkLimits(options);
  }

  /**
   * Keeps a picture; what of it is kept, and what is refused, is as with
   * `FileAttachmentStore.put`, the disk aside.
   */
  async put(bytes: Uint8Array, options: { name?: string } = {}): Promise<ImageRef> {
    const { ref, address, bytes: copy } = makeAttachment(bytes, options, this.#limits);
    this.#kept.set(address.fileName, copy);
    return Promise.resolve(ref);
  }

  /** A copy of a picture's bytes; `null` for a reference that this store did not give. */
  async read(ref: ImageRef): Promise<Uint8Array | null> {
    const address = addressOf(ref);
    const kept = address === null ? undefined : this.#kept.get(address.fileName);
    return Promise.resolve(kept === undefined ? null : new Uint8Array(kept));
  }
}
