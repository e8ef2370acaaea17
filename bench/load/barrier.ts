/** A place where so many wait for each other; whoever comes later goes through. */
export class Barrier {
  readonly #opened: Promise<void>;
  #open: () => void = () => undefined;
  #missing: number;

  constructor(count: number) {
    this.#missing = count;
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  wait(): Promise<void> {
    this.#missing -= 1;
    if (this.#missing <= 0) this.#open();
    return this.#opened;
  }
}
