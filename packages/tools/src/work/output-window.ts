/**
 * The first and the last bytes of an output, whatever its length. It never holds more than
 * `keep` bytes, and knows exactly how many it left out.
 */
export class OutputWindow {
  readonly #head: Uint8Array;
  /** The last bytes behind the head, as a ring: the oldest stands at `#next`. */
  readonly #tail: Uint8Array;
  #next = 0;
  #total = 0;

  constructor(keep: number) {
    this.#head = new Uint8Array(Math.ceil(keep / 2));
    this.#tail = new Uint8Array(Math.floor(keep / 2));
  }

  /** How many bytes there were in all. */
  get total(): number {
    return this.#total;
  }

  push(bytes: Uint8Array): void {
    const forHead = bytes.subarray(0, Math.max(0, this.#head.length - this.#total));
    this.#head.set(forHead, this.#total > this.#head.length ? 0 : this.#total);
    const rest = bytes.subarray(forHead.length);
    const last = rest.subarray(Math.max(0, rest.length - this.#tail.length));
    const room = this.#tail.length - this.#next;
    this.#tail.set(last.subarray(0, room), this.#next);
    this.#tail.set(last.subarray(room));
    this.#next = (this.#next + last.length) % this.#tail.length;
    this.#total += bytes.length;
  }

  /** As UTF-8, what is none replaced. Where bytes were left out stands how many. */
  text(): string {
    const behind = this.#total - this.#head.length;
    if (behind <= 0) return decode(this.#head.subarray(0, this.#total));
    if (behind <= this.#tail.length) {
      return decode(Buffer.concat([this.#head, this.#tail.subarray(0, behind)]));
    }
    const ring = [this.#tail.subarray(this.#next), this.#tail.subarray(0, this.#next)];
    const head = withoutSplitEnd(this.#head);
    const tail = withoutSplitStart(Buffer.concat(ring));
    const left = String(this.#total - head.length - tail.length);
    return `${decode(head)}\n[… ${left} bytes left out …]\n${decode(tail)}`;
  }
}

/** A byte order mark is a character like any other here. */
const decode = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80;

/** How many bytes a character has that starts with this one; 1 for what starts none. */
function lengthFrom(byte: number | undefined): number {
  if (byte === undefined || byte < 0xc2 || byte > 0xf4) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

/** Without the beginning of a character whose end was left out. */
function withoutSplitEnd(bytes: Uint8Array): Uint8Array {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start -= 1;
  const isSplit = start + lengthFrom(bytes[start]) > bytes.length;
  return isSplit ? bytes.subarray(0, start) : bytes;
}

/** Without the end of a character whose beginning was left out. */
function withoutSplitStart(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}
