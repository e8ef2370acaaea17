interface Link<T> {
  readonly item: T;
  next: Link<T> | null;
}

/** A queue whose taken items are forgotten at once, however far its reader is behind. */
export class Fifo<T> {
  #first: Link<T> | null = null;
  #last: Link<T> | null = null;

  push(item: T): void {
    const link: Link<T> = { item, next: null };
    if (this.#last === null) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
  }

  /** The oldest item; `undefined` when there is none. */
  shift(): T | undefined {
    const link = this.#first;
    if (link === null) return undefined;
    this.#first = link.next;
    if (link.next === null) this.#last = null;
    return link.item;
  }
}
