import { ApiError } from './api-error.ts';

/**
 * The JSON of a request, of which no more than `maxSize` bytes are held; `{}` for an empty one.
 *
 * @throws ApiError `unsupported_media_type`, `too_large`, or `invalid` for what is no JSON.
 */
export async function readJson(request: Request, maxSize: number): Promise<unknown> {
  checkType(request.headers);
  const text = decode(await readBytes(request, maxSize));
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ApiError('invalid', 'body: expected JSON, got another text');
  }
}

/** A form of another site can send no such type without asking first, and is told no then. */
function checkType(headers: Headers): void {
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new ApiError('unsupported_media_type', 'Content-Type: expected application/json');
  }
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return;
  throw new ApiError('unsupported_media_type', 'Content-Encoding: expected none');
}

async function readBytes(request: Request, maxSize: number): Promise<Uint8Array> {
  const tooLarge = new ApiError('too_large', `body: expected at most ${String(maxSize)} bytes`);
  if (Number(request.headers.get('content-length') ?? 0) > maxSize) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxSize) throw tooLarge;
      chunks.push(chunk);
    }
  } catch (error) {
    if (error === tooLarge) throw error;
    throw new ApiError('invalid', 'body: expected all of it, got a part');
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ApiError('invalid', 'body: expected UTF-8, got other bytes');
  }
}
