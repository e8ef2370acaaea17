import type { LanguageModelV3FilePart, LanguageModelV3TextPart } from '@ai-sdk/provider';
import type { AttachmentStore, ImageRef } from '@celestea/core';

/** Where the bytes of pictures come from. */
export type AttachmentReader = Pick<AttachmentStore, 'read'>;

/**
 * A picture as the provider gets it. One whose bytes cannot be had is a note in words: it must
 * not fail the request, now and with every later turn.
 */
export async function picturePart(
  ref: ImageRef,
  store: AttachmentReader | undefined,
): Promise<LanguageModelV3FilePart | LanguageModelV3TextPart> {
  const bytes = await readBytes(ref, store);
  if (bytes === null) return { type: 'text', text: `[${describePicture(ref)} is not available]` };
  const named = ref.name === undefined ? {} : { filename: ref.name };
  return { type: 'file', data: bytes, mediaType: ref.media_type, ...named };
}

async function readBytes(
  ref: ImageRef,
  store: AttachmentReader | undefined,
): Promise<Uint8Array | null> {
  try {
    const bytes: unknown = await store?.read(ref);
    return bytes instanceof Uint8Array && bytes.length > 0 ? bytes : null;
  } catch {
    return null; // a store that fails is a store that has not got it
  }
}

function describePicture({ name, media_type, width, height }: ImageRef): string {
  const called = name === undefined ? '' : ` ${JSON.stringify(name)}`;
  return `picture${called}, ${media_type}, ${String(width)}×${String(height)},`;
}
