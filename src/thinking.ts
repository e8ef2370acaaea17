/** Joins consecutive thinking deltas into the one row that is written at the next boundary (L3.2). */
export class ThinkingBurst {
  #text = '';

  add(delta: string): void {
    this.#text += delta;
  }

  /** The burst so far, which starts anew; `null` when it is empty. */
  take(): string | null {
    if (this.#text === '') return null;
    const text = this.#text;
    this.#text = '';
    return text;
  }
}
