/** A signal that knows who listens to it. */
export interface WatchedSignal {
  readonly signal: AbortSignal;
  /** Aborts it with an Error as the reason. */
  readonly abort: () => void;
  /** How many still listen for its abort. */
  readonly listeners: () => number;
}

type Add = AbortSignal['addEventListener'];
type Remove = AbortSignal['removeEventListener'];
type Listener = Parameters<Add>[1];

interface Listening {
  readonly listener: Listener;
  readonly capture: boolean;
  readonly once: boolean;
  readonly until: AbortSignal | undefined;
}

/**
 * A real signal, which `fetch` and its like insist on, whose methods count. As for any signal,
 * a listener that is added twice listens once.
 */
export function watchedSignal(): WatchedSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const addTo: Add = signal.addEventListener.bind(signal);
  const removeFrom: Remove = signal.removeEventListener.bind(signal);
  let listening: readonly Listening[] = [];
  let handler: Listener | null = null;

  const add: Add = (type, listener, options) => {
    const { capture = false, once = false, signal: until } = asObject(options);
    const known = listening.some((one) => one.listener === listener && one.capture === capture);
    if (type === 'abort' && !known && until?.aborted !== true) {
      listening = [...listening, { listener, capture, once, until }];
    }
    addTo(type, listener, options);
  };
  const remove: Remove = (type, listener, options) => {
    const { capture = false } = asObject(options);
    if (type === 'abort') {
      listening = listening.filter((one) => one.listener !== listener || one.capture !== capture);
    }
    removeFrom(type, listener, options);
  };
  Object.defineProperties(signal, {
    addEventListener: { value: add },
    removeEventListener: { value: remove },
    onabort: {
      get: () => handler,
      set: (value: Listener | null) => {
        if (handler !== null) remove('abort', handler);
        handler = value;
        if (handler !== null) add('abort', handler);
      },
    },
  });
  return {
    signal,
    abort: () => {
      if (signal.aborted) return;
      const before = listening;
      controller.abort(new Error('nobody waits for this reply any more'));
      listening = listening.filter((one) => !(one.once && before.includes(one)));
    },
    listeners: () => listening.filter(({ until }) => until?.aborted !== true).length,
  };
}

interface ListenerOptions {
  readonly capture?: boolean;
  readonly once?: boolean;
  readonly signal?: AbortSignal;
}

/** A boolean is the short form. */
const asObject = (options: ListenerOptions | boolean = false): ListenerOptions =>
  typeof options === 'boolean' ? { capture: options } : options;
