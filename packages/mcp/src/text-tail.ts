const KEPT = 1_000;

/** The end of a text that comes in pieces. */
export class TextTail {
  #text = '';

  add(piece: string): void {
    const text = `${this.#text}${piece}`;
    const start = text.length - KEPT;
    this.#text = start <= 0 ? text : text.slice(start).toWellFormed();
  }

  /** At most 1000 characters and one, without the space around them. */
  text(): string {
    return this.#text.trim();
  }
}
