import type { InjectionSource, PendingInjection } from '@celestea/core';

/** Lines that were typed while a turn runs, until the turn takes them. */
export class SteeringQueue implements InjectionSource {
  #lines: PendingInjection[] = [];

  /** Adds a line. */
  push(text: string): void {
    this.#lines.push({ text, from: '' });
  }

  drain(): readonly PendingInjection[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  pending(): number {
    return this.#lines.length;
  }
}
