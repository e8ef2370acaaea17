import { ApiError } from './api-error.ts';

/**
 * The JSON of a request, of which no more than `maxBytes` are held; `{}` for an empty one.
 *
 * @throws ApiError `unsupported_media_type`, `too_large`, or `invalid` for what is no JSON.
 */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  checkType(request.headers);
  const text = decode(await readBytes(request, maxBytes));
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

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = new ApiError('too_large', `body: expected at most ${String(maxBytes)} bytes`);
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge;
  const { body } = request;
  if (body === null) return new Uint8Array();
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let read = await next(reader); read !== null; read = await next(reader)) {
    size += read.byteLength;
    if (size > maxBytes) {
      reader.cancel().catch(() => undefined);
      throw tooLarge;
    }
    chunks.push(read);
  }
  return join(chunks, size);
}

async function next(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
  try {
    const { done, value } = await reader.read();
    return done ? null : value;
  } catch {
    throw new ApiError('invalid', 'body: expected all of it, got a part');
  }
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ApiError('invalid', 'body: expected UTF-8, got other bytes');
  }
}
