import { setImmediate as macrotask } from 'node:timers/promises';

import { vi } from 'vitest';

import type { Pace } from './worlds.ts';

/** The clock of one world: nothing passes but what the run lets pass. */
export class WorldClock {
  /** Timers of the world's own that still run. */
  running = 0;

  /** Work that takes its time; `never` never settles. */
  async pass(pace: Pace): Promise<void> {
    switch (pace) {
      case 'now':
        return;
      case 'soon':
        await this.ticks(3);
        return;
      case 'never':
        await new Promise(() => undefined);
        return;
      default:
        await new Promise<void>((resolve) => {
          this.after(pace, resolve);
        });
    }
  }

  async ticks(count: number): Promise<void> {
    for (let tick = 0; tick < count; tick += 1) await Promise.resolve();
  }

  after(ms: number, run: () => void): void {
    this.running += 1;
    setTimeout(() => {
      this.running -= 1;
      run();
    }, ms);
  }

  /** Runs all that can run, until `isOver` says so or nothing is left that could. */
  async run(isOver: () => boolean): Promise<void> {
    for (let round = 0; round < 5000; round += 1) {
      await this.quiet();
      if (isOver() || vi.getTimerCount() === 0) return;
      vi.advanceTimersToNextTimer();
    }
    throw new Error('the world never comes to rest');
  }

  /** Microtasks to their end, with the macrotasks that the loop lets pass in between. */
  async quiet(): Promise<void> {
    for (let round = 0; round < 3; round += 1) await macrotask();
  }
}
