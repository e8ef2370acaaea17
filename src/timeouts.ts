import { Cancellation } from './cancel.ts';

/** Limits in milliseconds; 0 and a field left out are no limit (X13). */
export interface TurnTimeouts {
  /** The longest wait for the provider's next event, the first included. */
  streamIdleMs?: number;
  /** The longest a tool may take. */
  toolMs?: number;
}

/** The longest delay that timers can count; anything beyond is no limit. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** A limit that is one, or `null`. */
export function activeLimit(ms: number | undefined): number | null {
  return ms !== undefined && ms > 0 && ms <= MAX_DELAY_MS ? ms : null;
}

/**
 * A cancel that follows the turn's, and also comes when one wait lasts longer than the
 * limit. Only the time between `begin` and `pause` counts. One timer, moved on when it fires
 * too early, so that waits may be as many as a stream has events (X13).
 */
export class WaitLimit extends Cancellation {
  /** Whether the limit ran out. */
  expired = false;
  readonly limitMs: number;
  #since: number | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(turn: Cancellation, limitMs: number) {
    super();
    this.limitMs = limitMs;
    this.follow(turn);
  }

  /** A wait begins. */
  begin(): void {
    this.#since = performance.now();
    if (this.#timer === null) this.#arm(this.limitMs);
  }

  /** The wait is over. */
  pause(): void {
    this.#since = null;
  }

  /** Nothing is waited for any more: no timer and no listener stays behind. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#since = null;
    this.release();
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#since === null) return; // the next `begin` arms it
      const left = this.limitMs - (performance.now() - this.#since);
      if (left > 0) {
        this.#arm(Math.ceil(left));
        return;
      }
      this.expired = true;
      this.abort(new DOMException(`waited ${String(this.limitMs)} ms`, 'TimeoutError'));
    }, ms);
  }
}
