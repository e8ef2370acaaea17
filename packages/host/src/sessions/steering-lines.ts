import type { InjectionSource, PendingInjection } from '@celestea/core';

/** What was said to a turn that runs, until the turn takes it. */
export class SteeringLines implements InjectionSource {
  #lines: string[] = [];
  readonly #onTaken: (texts: readonly string[]) => void;

  /** `onTaken` is told what the turn took, once it did. */
  constructor(onTaken: (texts: readonly string[]) => void) {
    this.#onTaken = onTaken;
  }

  push(text: string): void {
    this.#lines.push(text);
  }

  drain(): readonly PendingInjection[] {
    const texts = this.takeBack();
    if (texts.length > 0) this.#onTaken(texts);
    return texts.map((text) => ({ text, from: '' }));
  }

  pending(): number {
    return this.#lines.length;
  }

  /** What the turn has not taken yet, in order. */
  waiting(): readonly string[] {
    return [...this.#lines];
  }

  /** What no turn took; nobody gets it afterwards. */
  takeBack(): readonly string[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }
}
