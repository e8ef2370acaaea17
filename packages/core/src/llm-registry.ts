import type { Llm } from './model.ts';
import { NamedRegistry } from './named-registry.ts';

/** Models under names, for hosts that offer several. The last registration of a name wins. */
export class LlmRegistry<T = Llm> {
  readonly #models = new NamedRegistry<T>();

  register(name: string, llm: T): void {
    this.#models.insert(name, llm);
  }

  resolve(name: string): T | undefined {
    return this.#models.get(name);
  }

  /** The distinct names, in the order they were first registered. */
  list(): string[] {
    return [...new Set(this.#models.entries().map(([name]) => name))];
  }
}
