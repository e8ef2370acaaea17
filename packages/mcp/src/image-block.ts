import { isImageMediaType, readImageRef, type ImageRef } from '@celestea/core';

import type { McpToolsOptions } from './options.ts';

/** The largest picture taken from a result, in bytes. */
const MAX_IMAGE_BYTES = 20_000_000;

/** Keeps a picture of a result; a note in words when it cannot be shown. Never rejects. */
export async function keepImage(
  data: unknown,
  mimeType: unknown,
  putImage: McpToolsOptions['putImage'],
): Promise<ImageRef | string> {
  const note = (why: string): string => `[${describeData('image', data, mimeType)}: ${why}]`;
  if (putImage === undefined) return note('not shown');
  if (!isImageMediaType(mimeType)) return note('not shown, its type is not supported');
  if (base64Bytes(data) > MAX_IMAGE_BYTES) {
    return note(`not shown, it is larger than ${String(MAX_IMAGE_BYTES)} bytes`);
  }
  const bytes = decode(data);
  if (bytes === null) return note('not shown, its data is no base64');
  try {
    return readImageRef(await putImage(bytes, mimeType)) ?? note('not kept');
  } catch {
    return note('not shown, it could not be kept');
  }
}

/** `image image/png of 70 bytes`, for what is told of instead of shown. */
export function describeData(kind: string, data: unknown, mimeType: unknown): string {
  const type = typeof mimeType === 'string' ? ` ${mimeType.slice(0, 100)}` : '';
  return `${kind}${type} of ${String(base64Bytes(data))} bytes`;
}

function base64Bytes(data: unknown): number {
  if (typeof data !== 'string') return 0;
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}

/** A copy of its own: small buffers share their memory with others. */
function decode(data: unknown): Uint8Array | null {
  if (typeof data !== 'string' || data === '') return null;
  // Two searches that never go back: one pattern for it all overflows on megabytes.
  const padding = data.indexOf('=');
  if (/[^A-Za-z0-9+/=\r\n]/.test(data)) return null;
  if (padding !== -1 && /[^=\r\n]/.test(data.slice(padding))) return null;
  return new Uint8Array(Buffer.from(data, 'base64'));
}
