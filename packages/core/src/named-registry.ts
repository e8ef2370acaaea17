/**
 * Values under names. Rows are only ever added: inserting a name again adds a row, and the
 * last row of a name is the one that `get` finds.
 */
export class NamedRegistry<T> {
  readonly #rows: { name: string; value: T }[] = [];
  readonly #latest = new Map<string, T>();

  insert(name: string, value: T): void {
    this.#rows.push({ name, value });
    this.#latest.set(name, value);
  }

  get(name: string): T | undefined {
    return this.#latest.get(name);
  }

  /** Every row, in insertion order, as a fresh array. */
  entries(): [name: string, value: T][] {
    return this.#rows.map(({ name, value }) => [name, value]);
  }

  /** How many rows were inserted. */
  get size(): number {
    return this.#rows.length;
  }
}
