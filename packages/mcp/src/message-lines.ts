const NEWLINE = 0x0a;

/** Splits the bytes of a stream into lines, and holds no more than `maxBytes` of an unended one. */
export class MessageLines {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Hands on the lines that end in a chunk; `false` when a line is larger than allowed. */
  push(chunk: Buffer, onLine: (line: string) => void): boolean {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      const part = chunk.subarray(start, end === -1 ? chunk.length : end);
      this.#size += part.length;
      if (this.#size > this.#maxBytes) {
        this.#take();
        return false;
      }
      if (part.length > 0) this.#parts.push(part);
      if (end === -1) return true;
      onLine(this.#take());
      start = end + 1;
    }
  }

  #take(): string {
    const line = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#size = 0;
    return line;
  }
}
