import { describeValue, isRecord } from '@celestea/core';

/** Refuses what does not fit with a TypeError that names it, what was expected and what came. */
export function expectThat(fits: boolean, name: string, expected: string, came: unknown): void {
  if (!fits) throw new TypeError(`${name}: expected ${expected}, got ${describeValue(came)}`);
}

/** Refuses what is neither left out nor a function. */
export function expectHook(name: string, came: unknown): void {
  expectThat(came === undefined || typeof came === 'function', name, 'a function', came);
}

/** Refuses what is no model. */
export function expectLlm(name: string, came: unknown): void {
  const fits = isRecord(came) && typeof came['generate'] === 'function';
  expectThat(fits, name, 'a model, an object with generate', came);
}
