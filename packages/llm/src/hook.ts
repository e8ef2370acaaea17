/** Tells a caller's hook; whatever it throws, at once or later, is ignored. */
export function tell<T>(hook: ((notice: T) => unknown) | undefined, notice: T): void {
  if (hook === undefined) return;
  const asked = new Promise((resolve) => {
    resolve(hook(notice));
  });
  asked.catch(() => undefined);
}
