import { expectThat } from '@celestea/core';

/** Refuses what is neither left out nor a function. */
export function expectHook(name: string, came: unknown): void {
  expectThat(came === undefined || typeof came === 'function', name, 'a function', came);
}

/** Tells a caller's hook; whatever it throws, at once or later, is ignored. */
export function tell<T>(hook: ((notice: T) => unknown) | undefined, notice: T): void {
  if (hook === undefined) return;
  const asked = new Promise((resolve) => {
    resolve(hook(notice));
  });
  asked.catch(ignore);
}

/** Handles a failure that is told elsewhere, or is of no account any more. */
export const ignore = (): void => undefined;
