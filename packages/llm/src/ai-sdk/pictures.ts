import type { LanguageModelV3FilePart, LanguageModelV3TextPart } from '@ai-sdk/provider';
import type { AttachmentStore, ImageRef } from '@celestea/core';

/** Where the bytes of pictures come from. */
export type AttachmentReader = Pick<AttachmentStore, 'read'>;

/** The same; `undefined` when there are none, `unseen` for a model that cannot see them. */
export type PictureSource = AttachmentReader | 'unseen' | undefined;

/**
 * A picture as the provider gets it. One whose bytes cannot be had, or which the model cannot
 * see, is a note in words: it must not fail the request, now and with every later turn.
 */
export async function picturePart(
  ref: ImageRef,
  source: PictureSource,
): Promise<LanguageModelV3FilePart | LanguageModelV3TextPart> {
  if (source === 'unseen') return note(`${describePicture(ref)}: this model cannot see pictures`);
  const bytes = await readBytes(ref, source);
  if (bytes === null) return note(`${describePicture(ref)}, is not available`);
  const named = ref.name === undefined ? {} : { filename: ref.name };
  return { type: 'file', data: bytes, mediaType: ref.media_type, ...named };
}

const note = (text: string): LanguageModelV3TextPart => ({ type: 'text', text: `[${text}]` });

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
  return `picture${called}, ${media_type}, ${String(width)}×${String(height)}`;
}
