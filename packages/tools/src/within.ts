/**
 * Waits for `work`, but no longer than `ms` (for ever without), nor after a cancel. Leaves neither
 * a timer nor a listener behind. `work` must not reject.
 */
export function within(
  work: Promise<unknown>,
  ms: number | undefined,
  signal?: AbortSignal,
): Promise<'done' | 'timeout' | 'cancel'> {
  return new Promise((resolve) => {
    const finish = (how: 'done' | 'timeout' | 'cancel'): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(how);
    };
    const onAbort = (): void => {
      finish('cancel');
    };
    const timer = ms === undefined ? undefined : setTimeout(finish, ms, 'timeout');
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) finish('cancel');
    void work.then(() => {
      finish('done');
    });
  });
}
