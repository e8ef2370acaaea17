import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/**
 * Gives the tools of one server names that every model provider takes: letters, digits, `_` and
 * `-`, at most 64. A tool keeps its name as long as this lives. Of tools that would get the same
 * one, the first keeps it (one whose own name needed no change goes first, then by code units),
 * and the others get a part of the hash of their own name behind it.
 */
export class ToolNames {
  readonly #prefix: string;
  readonly #given = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(prefix: string | undefined) {
    this.#prefix = prefix === undefined ? '' : `${clean(prefix)}_`;
  }

  /** Names all tools of a list, whatever its order. */
  assign(owns: readonly string[]): Map<string, string> {
    const fresh = owns.filter((own) => !this.#given.has(own)).sort();
    const isExact = (own: string): boolean => this.#plain(own) === `${this.#prefix}${own}`;
    const ordered = [...fresh.filter(isExact), ...fresh.filter((own) => !isExact(own))];
    for (const own of ordered) {
      if (this.#given.has(own)) continue;
      const name = this.#free(own);
      this.#given.set(own, name);
      this.#taken.add(name);
    }
    return new Map(owns.map((own) => [own, this.#given.get(own) ?? this.#plain(own)]));
  }

  #plain(own: string): string {
    return `${this.#prefix}${clean(own)}`.slice(0, MAX_LENGTH);
  }

  #free(own: string): string {
    let name = this.#plain(own);
    for (let salt = 0; this.#taken.has(name); salt += 1) {
      const hash = createHash('sha256').update(`${String(salt)}:${own}`).digest('hex');
      const suffix = `_${hash.slice(0, HASH_LENGTH)}`;
      name = `${this.#plain(own).slice(0, MAX_LENGTH - suffix.length)}${suffix}`;
    }
    return name;
  }
}

const clean = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/gu, '_');
