/** How long a turn may run without letting a macrotask pass, in milliseconds (X18). */
const MAX_RUN_MS = 10;
/** A check of the clock costs about as much as a delta, so most ticks do without one. */
const MAX_STRIDE = 16;
/** Ticks this far apart, in milliseconds, are worth a check each. */
const SLOW_TICKS_MS = 1;

/** Lets one macrotask pass: timers, I/O and the signals that hang on them get their turn. */
const macrotask: () => Promise<void> = chooseMacrotask();

/** What is used of a `MessageChannel`, which every platform but Node types alike. */
interface Channel {
  port1: { onmessage: (() => void) | null; close(): void };
  port2: { postMessage(message: unknown): void };
}

function chooseMacrotask(): () => Promise<void> {
  const { setImmediate: immediate } = globalThis as { setImmediate?: (run: () => void) => unknown };
  if (immediate !== undefined) {
    return () =>
      new Promise((resolve) => {
        immediate(resolve);
      });
  }
  return () =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel() as unknown as Channel;
      port1.onmessage = () => {
        port1.close();
        resolve();
      };
      port2.postMessage(null);
    });
}

/**
 * Keeps a turn from starving its process: a model and tools that never wait would otherwise
 * run it to its end in one go (X18).
 */
export class Breather {
  #since = performance.now();
  #checked = this.#since;
  #stride = 1;
  #left = 1;

  /** Whether it is time to wait for {@link rest}. Called once a unit of work; cheap. */
  isDue(): boolean {
    this.#left -= 1;
    if (this.#left > 0) return false;
    const now = performance.now();
    const slow = now - this.#checked > SLOW_TICKS_MS;
    this.#stride = slow ? 1 : Math.min(MAX_STRIDE, this.#stride * 2);
    this.#left = this.#stride;
    this.#checked = now;
    return now - this.#since >= MAX_RUN_MS;
  }

  async rest(): Promise<void> {
    await macrotask();
    this.#since = this.#checked = performance.now();
  }
}
