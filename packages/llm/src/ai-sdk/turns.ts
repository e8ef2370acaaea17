/** How many steps may follow each other without a wait. */
const STEPS = 64;

/** Kept, since whoever puts another clock in place of this one may never let it run. */
const schedule: (run: () => void) => unknown =
  'setImmediate' in globalThis ? globalThis.setImmediate : globalThis.setTimeout;

/**
 * Keeps a loop from running on without end over what is always there at once: timers and
 * aborts would never have their turn.
 */
export class Turns {
  #steps = 0;

  /** Whether it is time to {@link wait}, counting this step. */
  isOver(): boolean {
    this.#steps = (this.#steps + 1) % STEPS;
    return this.#steps === 0;
  }

  /** Lets everything else have its turn. */
  async wait(): Promise<void> {
    await new Promise<void>((resolve) => {
      schedule(resolve);
    });
  }
}
