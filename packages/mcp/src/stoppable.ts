/** Something that can end a wait: hands an error to `stop`, at once or later; gives its undo. */
export type Stop = (stop: (error: Error) => void) => () => void;

const nothing = (): void => undefined;

/** The longest time a timer can be set to, about 24.8 days. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/**
 * Waits for some work until it settles or one of the stops speaks, whichever comes first. The
 * work's signal aborts when it was stopped; what it still does then is nobody's concern. Leaves
 * no listener and no timer behind: not on the signal either, where the SDK forgets its own.
 */
export async function stoppable<T>(
  stops: readonly Stop[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const undo: (() => void)[] = [];
  const listen = signal.addEventListener.bind(signal);
  signal.addEventListener = (...[type, listener]: Parameters<typeof listen>): void => {
    listen(type, listener);
    undo.push(() => {
      signal.removeEventListener(type, listener);
    });
  };
  try {
    return await new Promise<T>((resolve, reject) => {
      const stop = (error: Error): void => {
        reject(error);
        controller.abort(error.message);
      };
      for (const each of stops) undo.push(each(stop));
      if (!signal.aborted) work(signal).then(resolve, reject);
    });
  } finally {
    for (const each of undo) each();
  }
}

/** Stops when a signal aborts, with the signal's reason. */
export function onAbort(signal: AbortSignal | undefined): Stop {
  return (stop) => {
    const aborted = (): void => {
      const reason: unknown = signal?.reason;
      stop(reason instanceof Error ? reason : new Error('cancelled', { cause: reason }));
    };
    if (signal?.aborted === true) aborted();
    else signal?.addEventListener('abort', aborted, { once: true });
    return () => signal?.removeEventListener('abort', aborted);
  };
}

/** Stops after a time in milliseconds, with an error of this text. */
export function after(ms: number, text: string): Stop {
  return (stop) => {
    const timer = setTimeout(() => {
      stop(new Error(text));
    }, ms);
    return () => {
      clearTimeout(timer);
    };
  };
}

/** An end that comes once and stays: those who wait hear of it, those who come later as well. */
export class Ending {
  readonly #waiting = new Set<(error: Error) => void>();
  #error: Error | null = null;

  /** Why it ended, or `null` while it did not. */
  get error(): Error | null {
    return this.#error;
  }

  /** The first call decides the error; later ones do nothing and give `false`. */
  end(error: Error): boolean {
    if (this.#error !== null) return false;
    this.#error = error;
    for (const stop of [...this.#waiting]) stop(error);
    return true;
  }

  /** Whether it ends within a time, or has ended before. */
  async within(ms: number): Promise<boolean> {
    const never = new Promise<never>(nothing);
    await stoppable([this.stop, after(ms, 'late')], () => never).catch(nothing);
    return this.#error !== null;
  }

  /** Stops a wait when it ends. */
  readonly stop: Stop = (stop) => {
    if (this.#error !== null) {
      stop(this.#error);
      return nothing;
    }
    this.#waiting.add(stop);
    return () => {
      this.#waiting.delete(stop);
    };
  };
}
