import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 65_536;
const NEW_LINE = 0x0a;

/** Which lines are wanted, and how far it may go for them. */
export interface WindowRequest {
  /** The first line, counted from 1. */
  offset: number;
  /** How many lines. */
  limit: number;
  /** How many bytes they may have together. */
  maxBytes: number;
  /** How many bytes may be read to get at the first of them, or to count. */
  maxScanBytes: number;
  /** Whether to read to the end of the file, to know how many lines it has. */
  countAll: boolean;
}

/** Lines of a file, byte for byte. */
export interface LineWindow {
  bytes: Uint8Array;
  /** The last line of it; `offset - 1` when there is none. */
  lastLine: number;
  /** How many lines the file has; `null` when it was not read to its end. */
  totalLines: number | null;
  /** Whether something stands after it that was left out. */
  hasMore: boolean;
  /** Whether its only line is longer than `maxBytes` and lost its end. */
  isCut: boolean;
}

/**
 * Reads whole lines in chunks of 64 KiB, holding no more than one chunk and the lines
 * themselves. `null` when the first line lies further into the file than `maxScanBytes`.
 * `onStart` sees the first bytes of the file and may throw.
 */
export async function readLineWindow(
  handle: FileHandle,
  request: WindowRequest,
  onStart: (bytes: Uint8Array) => void,
  signal: AbortSignal | undefined,
): Promise<LineWindow | null> {
  const { offset, limit, maxBytes, maxScanBytes, countAll } = request;
  const chunk = new Uint8Array(CHUNK_BYTES);
  // One byte more than is given tells whether something is left out.
  const kept = new Uint8Array(maxBytes + 1);
  let length = 0;
  let scanned = 0;
  let line = 1;
  let isLineOpen = false;
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, null);
    if (bytesRead === 0) {
      return windowOf(kept.subarray(0, length), request, isLineOpen ? line : line - 1);
    }
    const bytes = chunk.subarray(0, bytesRead);
    if (scanned === 0) onStart(bytes);
    scanned += bytesRead;
    let start = line < offset ? bytesRead : 0;
    for (let at = bytes.indexOf(NEW_LINE); at !== -1; at = bytes.indexOf(NEW_LINE, at + 1)) {
      line += 1;
      if (line === offset) start = at + 1;
    }
    isLineOpen = bytes.at(-1) !== NEW_LINE;
    const piece = bytes.subarray(start, start + kept.length - length);
    kept.set(piece, length);
    length += piece.length;
    const last = isLineOpen ? line : line - 1;
    const isFull = length > maxBytes || last >= offset + limit;
    const isFar = scanned >= maxScanBytes;
    if (isFull && (isFar || !countAll)) return windowOf(kept.subarray(0, length), request, null);
    if (isFar && line < offset) return null;
  }
}

/** The wanted lines of what was kept, which is what is left of the file or more than they are. */
function windowOf(
  kept: Uint8Array,
  { offset, limit, maxBytes }: WindowRequest,
  totalLines: number | null,
): LineWindow {
  let end = 0;
  let lines = 0;
  while (lines < limit && end < kept.length) {
    const next = kept.indexOf(NEW_LINE, end) + 1 || kept.length;
    if (next > maxBytes) break;
    end = next;
    lines += 1;
  }
  // A first line that does not fit is cut, so that each call gets on by a line at least.
  const isCut = lines === 0 && kept.length > maxBytes;
  if (isCut) [end, lines] = [maxBytes, 1];
  const bytes = kept.subarray(0, end);
  return { bytes, lastLine: offset + lines - 1, totalLines, hasMore: end < kept.length, isCut };
}
