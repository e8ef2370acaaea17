/** The error of a tool result whose call was cancelled before it gave one (L4.5). */
export const CANCELLED_BEFORE_EXECUTION = 'cancelled before execution';

/** How a race between work and a cancel ended. */
export type RaceResult<T> =
  { outcome: 'ok'; value: T } | { outcome: 'aborted' } | { outcome: 'failed'; error: unknown };

/** Whether the signal is there and has fired. */
export function isAborted(signal: AbortSignal | null | undefined): boolean {
  return signal?.aborted === true;
}

/**
 * Waits for `work` or the signal, whichever comes first, and never rejects (L6.1). A signal
 * that fired already wins at once. The loser's rejection is consumed and no listener stays
 * behind, so a long-lived signal can be raced any number of times.
 */
export function raceAbort<T>(
  signal: AbortSignal | null | undefined,
  work: PromiseLike<T> | T,
): Promise<RaceResult<T>> {
  const settled: Promise<RaceResult<T>> = Promise.resolve(work).then(
    (value) => ({ outcome: 'ok', value }),
    (error: unknown) => ({ outcome: 'failed', error }),
  );
  if (signal === null || signal === undefined) return settled;
  if (signal.aborted) return Promise.resolve({ outcome: 'aborted' });
  return new Promise((resolve) => {
    const onAbort = (): void => {
      resolve({ outcome: 'aborted' });
    };
    const leave = follow(signal, onAbort);
    void settled.then((result) => {
      leave();
      resolve(result);
    });
  });
}

/**
 * Tells an iterator that nobody reads on. Whatever its `return()` does is swallowed, a throw
 * and a promise that never settles included; it is not awaited (L6.2).
 */
export function closeIterator(iterator: AsyncIterator<unknown>): void {
  try {
    void Promise.resolve(iterator.return?.()).catch(ignore);
  } catch {
    // an iterator that cannot be closed is left to itself
  }
}

/** The message of an Error, else the thrown value as text; always a string (L6.3). */
export function errorMessage(thrown: unknown): string {
  try {
    const shown: unknown = thrown instanceof Error ? thrown.message : thrown;
    return String(shown);
  } catch {
    return 'a thrown value that cannot be shown';
  }
}

/** Does nothing, on purpose: for what nobody waits for any more. */
export function ignore(): void {
  // nothing
}

/**
 * Takes the rejection of a promise that came where an answer was due; anything else, however
 * odd, is passed over.
 */
export function unheard(value: unknown, onRejected: (error: unknown) => void = ignore): void {
  try {
    if (value instanceof Promise) void Promise.prototype.then.call(value, ignore, onRejected);
  } catch {
    // a Proxy with ideas of its own
  }
}

/** A signal of the turn's own that follows the caller's. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Aborts `signal` alone. */
  readonly abort: (reason: unknown) => void;
  /** Lets go of the caller's signals; from then on `signal` never fires (X2). */
  readonly release: () => void;
}

/** Those who follow a signal, and the one listener that tells them. */
interface Following {
  readonly followers: Set<() => void>;
  readonly listener: () => void;
}

const followings = new WeakMap<AbortSignal, Following>();

/**
 * Calls back when a signal aborts, until what is given back is called. However many follow a
 * signal, it has one listener of ours, and none when nobody follows it any more: a host's
 * signal may serve many turns at once, and a turn's many calls. Who follows a signal that is
 * followed already costs a small part of a listener.
 */
export function follow(signal: AbortSignal, onAbort: () => void): () => void {
  const { followers, listener } = followings.get(signal) ?? startFollowing(signal);
  followers.add(onAbort);
  return () => {
    if (followers.delete(onAbort) && followers.size === 0) stopFollowing(signal, listener);
  };
}

function startFollowing(signal: AbortSignal): Following {
  const followers = new Set<() => void>();
  const listener = (): void => {
    stopFollowing(signal, listener);
    for (const onAbort of [...followers]) if (followers.delete(onAbort)) onAbort();
  };
  signal.addEventListener('abort', listener);
  followings.set(signal, { followers, listener });
  return { followers, listener };
}

function stopFollowing(signal: AbortSignal, listener: () => void): void {
  followings.delete(signal);
  try {
    signal.removeEventListener('abort', listener);
  } catch {
    // no signal of the platform's: it keeps a listener that does nothing any more
  }
}

/** Why a signal fired; one whose reason cannot be read cancels all the same. */
function reasonOf(signal: AbortSignal): unknown {
  try {
    return signal.reason;
  } catch {
    return undefined;
  }
}

/**
 * A signal that aborts, with the same reason, when the first of the given signals does. It
 * holds at most one listener on each source, whatever is built on top of it (L6.4), and has one
 * itself, ahead of all others, until it is released.
 */
export function linkSignals(...sources: AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const releases = [follow(controller.signal, ignore)];
  const release = (): void => {
    for (const each of releases.splice(0)) each();
  };
  const abort = (reason: unknown): void => {
    controller.abort(reason);
  };
  try {
    for (const source of sources) {
      const onAbort = (): void => {
        release();
        abort(reasonOf(source));
      };
      releases.push(follow(source, onAbort));
      if (source.aborted) onAbort();
    }
  } catch (error) {
    release();
    throw error;
  }
  return { signal: controller.signal, abort, release };
}
