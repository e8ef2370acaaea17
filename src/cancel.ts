/** The error of a tool result whose call was cancelled before it gave one (L4.5). */
export const CANCELLED_BEFORE_EXECUTION = 'cancelled before execution';

/** How a race between work and a cancel ended. */
export type RaceResult<T> =
  { outcome: 'ok'; value: T } | { outcome: 'aborted' } | { outcome: 'failed'; error: unknown };

/** Whether the signal is there and has fired. */
export function isAborted(signal: Pick<AbortSignal, 'aborted'> | null | undefined): boolean {
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
  const cancellation = new Cancellation();
  if (signal) cancellation.follow(cancellationOf(signal));
  const race = raceCancel(cancellation, work);
  void race.then(() => {
    cancellation.release();
  });
  return race;
}

/** {@link raceAbort} for a cancel that needs no signal. */
export function raceCancel<T>(
  { aborted, followers }: Cancellation,
  work: PromiseLike<T> | T,
): Promise<RaceResult<T>> {
  return new Promise((resolve) => {
    const follower: Follower = {
      abort() {
        resolve({ outcome: 'aborted' });
      },
    };
    const settle = (result: RaceResult<T>): void => {
      followers.delete(follower);
      resolve(result);
    };
    followers.add(follower);
    if (aborted) resolve({ outcome: 'aborted' });
    Promise.resolve(work).then(
      (value) => {
        settle({ outcome: 'ok', value });
      },
      (error: unknown) => {
        settle({ outcome: 'failed', error });
      },
    );
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

/** Takes the rejection of a promise that came where an answer was due; passes over anything else. */
export function unheard(value: unknown, onRejected: (error: unknown) => void = ignore): void {
  if (value instanceof Promise) value.then(ignore, onRejected);
}

/** Who is told of a cancel. */
export interface Follower {
  abort(reason: unknown): void;
}

/**
 * A cancel that comes, with the same reason, when the first of its sources does.
 *
 * Its signal is made when somebody asks for it: with the maps of its listeners it weighs a
 * kilobyte, and many models and tools never look at it.
 */
export class Cancellation implements Follower {
  aborted = false;
  declare reason: unknown;
  /** Told before the signal aborts, once. */
  readonly followers: Set<Follower> = new Set<Follower>();
  /** Called when those that follow it have all let go of it. */
  declare deserted?: () => void;
  #sources: readonly Cancellation[] = [];
  #controller: AbortController | null = null;
  #options: WorkOptions | null = null;

  /** Lets another one cancel this, until it is released. */
  follow(source: Cancellation): void {
    this.#sources = this.#sources.concat(source);
    source.followers.add(this);
    if (source.aborted) this.abort(source.reason);
  }

  /** What work is handed, to look at its signal or not. */
  get options(): WorkOptions {
    this.#options ??= lazySignal(this);
    return this.#options;
  }

  /** Aborts with this cancel. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  /** Cancels this one alone, or a source does. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.release();
    for (const each of [...this.followers]) if (this.followers.delete(each)) each.abort(reason);
    this.#controller?.abort(reason);
  }

  /** Lets go of the sources; from then on none of them cancels (X2). */
  release(): void {
    for (const source of this.#sources) {
      if (source.followers.delete(this) && source.followers.size === 0) source.deserted?.();
    }
    this.#sources = [];
  }
}

/** Options of a call of a seam. */
interface WorkOptions {
  readonly signal: AbortSignal;
}

/** An own property, so that who copies the options has it too. */
const lazySignal = (cancellation: Cancellation): WorkOptions => ({
  get signal() {
    return cancellation.signal;
  },
});

const known = new WeakMap<AbortSignal, Cancellation>();

/**
 * The cancel that a signal is. However many are linked with it, it has one listener of ours, and
 * none when nobody is any more: a host's signal may serve many turns at once (L6.4). To be linked
 * with one that has its listener already costs a small part of it.
 */
export function cancellationOf(signal: AbortSignal): Cancellation {
  const former = known.get(signal);
  if (former !== undefined) return former;
  const cancellation = new Cancellation();
  const fire = (): void => {
    leave();
    cancellation.abort(signal.reason);
  };
  const leave = (): void => {
    known.delete(signal);
    signal.removeEventListener('abort', fire);
  };
  cancellation.deserted = leave;
  signal.addEventListener('abort', fire);
  known.set(signal, cancellation);
  if (signal.aborted) fire();
  return cancellation;
}
