const encoder = new TextEncoder();

/** A text in UTF-8, taken piece by piece; no piece parts a code point. */
export class FramePieces {
  readonly #parts: readonly string[];
  #part = 0;
  #offset = 0;
  #bytesLeft: number;

  /** `parts` one after the other are the text, without lone surrogates; `bytes` is its length. */
  constructor(parts: readonly string[], bytes: number) {
    this.#parts = parts;
    this.#bytesLeft = bytes;
  }

  /** Whether all of it was taken. */
  get isOver(): boolean {
    return this.#part >= this.#parts.length;
  }

  /** The next piece: at most `maxBytes`, which is at least 4, the most that a code point takes. */
  take(maxBytes: number): Uint8Array {
    const piece = new Uint8Array(Math.min(maxBytes, this.#bytesLeft));
    let written = 0;
    for (let text = this.#parts[this.#part]; text !== undefined; text = this.#parts[this.#part]) {
      const put = encoder.encodeInto(text.slice(this.#offset), piece.subarray(written));
      written += put.written;
      this.#offset += put.read;
      if (this.#offset < text.length) break;
      this.#part += 1;
      this.#offset = 0;
    }
    this.#bytesLeft -= written;
    return piece.subarray(0, written);
  }
}
