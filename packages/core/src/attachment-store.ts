import type { ImageRef } from './message.ts';

/** Where the bytes of pictures are: a log and a message hold only an {@link ImageRef}. */
export interface AttachmentStore {
  /**
   * Keeps a picture and gives its reference; the same bytes give the same
   * `attachment_id`. Rejects with a `TypeError` when they are no picture of a known media type,
   * and with a `RangeError` when it is larger than the store takes.
   */
  put(bytes: Uint8Array, options?: { name?: string }): Promise<ImageRef>;
  /** The bytes of a picture; `null` when the store does not have them. */
  read(ref: ImageRef): Promise<Uint8Array | null>;
}
