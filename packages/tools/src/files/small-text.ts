import { looksBinary } from './binary.ts';
import type { FileRoot, OpenFile } from './file-root.ts';

/** The largest file that is read whole. */
const MAX_BYTES = 2 * 2 ** 20;

/** The text of a file of at most 2 MiB; `null` when it is larger, binary or cannot be read. */
export async function readSmallText(files: FileRoot, path: string): Promise<string | null> {
  const bytes = await files.withFile(path, readWhole).catch(() => null);
  return bytes === null || looksBinary(bytes) ? null : new TextDecoder().decode(bytes);
}

async function readWhole({ handle, bytes: size }: OpenFile): Promise<Uint8Array | null> {
  if (size > MAX_BYTES) return null;
  const bytes = new Uint8Array(size);
  let filled = 0;
  // No further than the size it had when opened: a file that grows must not be followed.
  while (filled < size) {
    const { bytesRead } = await handle.read(bytes, filled, size - filled, null);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
