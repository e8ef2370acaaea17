/**
 * What keeps bytes from being a picture of the format that they start as. The message goes on
 * after "got 20 bytes: ".
 */
export class PictureFault extends Error {
  override readonly name = 'PictureFault';
}

/** The bytes of a picture from outside: a read beyond their end is a {@link PictureFault}. */
export class PictureBytes {
  readonly length: number;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.length = bytes.length;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Throws unless `count` bytes from `at` on are there. */
  expect(at: number, count: number): void {
    const end = at + count;
    if (end > this.length) throw new PictureFault(`they end before byte ${String(end)}`);
  }

  uint8(at: number): number {
    this.expect(at, 1);
    return this.#view.getUint8(at);
  }

  /** Most significant byte first. */
  uint16(at: number): number {
    this.expect(at, 2);
    return this.#view.getUint16(at);
  }

  /** Most significant byte first. */
  uint32(at: number): number {
    this.expect(at, 4);
    return this.#view.getUint32(at);
  }

  /** Least significant byte first. */
  uint16LittleEndian(at: number): number {
    this.expect(at, 2);
    return this.#view.getUint16(at, true);
  }

  /** Least significant byte first. */
  uint24LittleEndian(at: number): number {
    return this.uint16LittleEndian(at) + this.uint8(at + 2) * 0x1_0000;
  }

  /** Least significant byte first. */
  uint32LittleEndian(at: number): number {
    this.expect(at, 4);
    return this.#view.getUint32(at, true);
  }

  /** Four bytes as text, one character each. */
  fourCharacters(at: number): string {
    this.expect(at, 4);
    return String.fromCharCode(...this.#bytes.subarray(at, at + 4));
  }

  /** Whether these bytes stand at `at`; not being there is no fault. */
  has(at: number, bytes: readonly number[]): boolean {
    return bytes.every((byte, index) => this.#bytes[at + index] === byte);
  }

  /** Where a byte stands next, at `from` or after it. */
  find(byte: number, from: number): number {
    const found = this.#bytes.indexOf(byte, from);
    if (found < 0) throw new PictureFault('they end before the picture does');
    return found;
  }
}
