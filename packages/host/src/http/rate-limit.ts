const MINUTE_MS = 60_000;

/** So many requests a minute: all may come at once, then one at a time as time goes by. */
export class RateLimit {
  readonly #perMinute: number;
  #left: number;
  /** On the clock that never goes back, in milliseconds. */
  #since: number;

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
    this.#left = perMinute;
    this.#since = performance.now();
  }

  /** Counts a request; gives the seconds to wait when it is one too many, else `null`. */
  take(): number | null {
    const now = performance.now();
    const grown = ((now - this.#since) / MINUTE_MS) * this.#perMinute;
    this.#since = now;
    this.#left = Math.min(this.#perMinute, this.#left + grown);
    if (this.#left >= 1) {
      this.#left -= 1;
      return null;
    }
    const missingMs = ((1 - this.#left) / this.#perMinute) * MINUTE_MS;
    return Math.max(1, Math.ceil(missingMs / 1000));
  }
}
