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
  const lines = new LineCollector(request);
  const chunk = new Uint8Array(CHUNK_BYTES);
  let scanned = 0;
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return lines.window(true);
    const bytes = chunk.subarray(0, bytesRead);
    if (scanned === 0) onStart(bytes);
    scanned += bytesRead;
    lines.feed(bytes);
    const isFar = scanned >= request.maxScanBytes;
    if (lines.isFull && (isFar || !request.countAll)) return lines.window(false);
    if (isFar && !lines.hasBegun) return null;
  }
}

/** Splits bytes into lines and keeps the wanted ones. */
class LineCollector {
  readonly #request: WindowRequest;
  readonly #kept: Uint8Array[] = [];
  #keptBytes = 0;
  /** The pieces of the line that has not ended yet. */
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #line = 1;
  #isLineOpen = false;
  #lastLine: number;
  #isCut = false;
  /** Something was left out, so nothing more is taken. */
  isFull = false;

  constructor(request: WindowRequest) {
    this.#request = request;
    this.#lastLine = request.offset - 1;
  }

  /** Whether the first wanted line was reached. */
  get hasBegun(): boolean {
    return this.#line >= this.#request.offset;
  }

  feed(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length; ) {
      const found = bytes.indexOf(NEW_LINE, start);
      const end = found === -1 ? bytes.length : found + 1;
      this.#take(bytes.subarray(start, end));
      this.#isLineOpen = found === -1;
      if (found !== -1) this.#endLine();
      start = end;
    }
  }

  window(isWhole: boolean): LineWindow {
    const total = this.#isLineOpen ? this.#line : this.#line - 1;
    if (this.#isLineOpen) this.#commit();
    return {
      bytes: Buffer.concat(this.#kept),
      lastLine: this.#lastLine,
      totalLines: isWhole ? total : null,
      hasMore: this.isFull,
      isCut: this.#isCut,
    };
  }

  #take(piece: Uint8Array): void {
    const { offset, limit, maxBytes } = this.#request;
    if (this.isFull || this.#line < offset) return;
    const room = maxBytes - this.#keptBytes - this.#pendingBytes;
    if (this.#line < offset + limit && piece.length <= room) {
      this.#pending.push(piece.slice());
      this.#pendingBytes += piece.length;
      return;
    }
    this.isFull = true;
    // A first line that does not fit is cut, so that each call gets on by a line at least.
    if (this.#lastLine < offset) {
      this.#pending.push(piece.slice(0, room));
      this.#isCut = true;
      this.#commit();
    }
    this.#pending = [];
  }

  #endLine(): void {
    this.#commit();
    this.#line += 1;
  }

  /** The pending pieces become part of the window. */
  #commit(): void {
    if (this.#pending.length === 0) return;
    this.#kept.push(...this.#pending);
    this.#keptBytes += this.#pendingBytes;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#lastLine = this.#line;
  }
}
