/**
 * Runs work that must disturb nobody: what it throws is dropped, and so is the rejection of a
 * promise that it gives where none was due.
 */
export function quietly<T>(work: () => T): T | undefined {
  try {
    const value = work();
    if (value instanceof Promise) value.catch(() => undefined);
    return value;
  } catch {
    return undefined;
  }
}
