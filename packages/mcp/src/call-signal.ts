/** A signal of one call's own. */
export interface CallSignal {
  readonly signal: AbortSignal;
  abort(reason: string): void;
  /** Takes every listener off the signal again. */
  drop(): void;
}

/**
 * A signal to hand to the SDK, which adds a listener to the signal of a request and never takes
 * it off again: on a caller's signal, that lives as long as a turn or an agent, they would pile
 * up.
 */
export function callSignal(): CallSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const listeners: Parameters<typeof add>[] = [];
  signal.addEventListener = (...listener: Parameters<typeof add>): void => {
    listeners.push(listener);
    add(...listener);
  };
  return {
    signal,
    abort: (reason) => {
      controller.abort(reason);
    },
    drop: () => {
      for (const [type, listener] of listeners) signal.removeEventListener(type, listener);
    },
  };
}
