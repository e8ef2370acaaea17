/** How often a server may be started again. */
export interface RestartLimits {
  restarts: number;
  /** The milliseconds that the restarts count for; `null` when they count for ever. */
  restartWindowMs: number | null;
  /** The time in milliseconds, from any moment on. */
  now: () => number;
}

/** The restarts that are left: one that lies further back than the window is given back. */
export class RestartBudget {
  readonly #limits: RestartLimits;
  /** When the restarts that count were made, oldest first. */
  #made: number[] = [];

  constructor(limits: RestartLimits) {
    this.#limits = limits;
  }

  /** Takes one, and gives `null`; or says why there is none, and for how long. */
  take(): string | null {
    const { restarts, restartWindowMs, now } = this.#limits;
    const time = now();
    const since = restartWindowMs === null ? -Infinity : time - restartWindowMs;
    this.#made = this.#made.filter((made) => made > since);
    if (this.#made.length < restarts) {
      this.#made.push(time);
      return null;
    }
    const [oldest] = this.#made;
    if (restartWindowMs === null || oldest === undefined) {
      return `no more restarts are tried (${String(restarts)} in all)`;
    }
    const used = `${String(restarts)} within ${seconds(restartWindowMs)}`;
    return `no more restarts are tried for ${seconds(oldest - since)} (${used})`;
  }
}

const seconds = (ms: number): string => `${String(Math.ceil(ms / 1000))} s`;
