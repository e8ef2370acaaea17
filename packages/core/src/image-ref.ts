import { isImageMediaType, type ImageRef } from './message.ts';
import { isFiniteNumber, isRecord } from './shape.ts';

/** Reads an {@link ImageRef} from outside data: a fresh value of the known fields, or `null`. */
export function readImageRef(value: unknown): ImageRef | null {
  if (!isRecord(value)) return null;
  const { attachment_id, media_type, width, height, name, original } = value;
  if (typeof attachment_id !== 'string' || !isImageMediaType(media_type)) return null;
  if (!isFiniteNumber(width) || !isFiniteNumber(height)) return null;
  const ref: ImageRef = { attachment_id, media_type, width, height };
  if (name !== undefined && name !== null) {
    if (typeof name !== 'string') return null;
    ref.name = name;
  }
  if (original !== undefined && original !== null) {
    const read = readOriginal(original);
    if (read === null) return null;
    ref.original = read;
  }
  return ref;
}

function readOriginal(value: unknown): NonNullable<ImageRef['original']> | null {
  if (!isRecord(value)) return null;
  const { width, height, bytes, media_type } = value;
  if (!isFiniteNumber(width) || !isFiniteNumber(height) || !isFiniteNumber(bytes)) return null;
  return isImageMediaType(media_type) ? { width, height, bytes, media_type } : null;
}
