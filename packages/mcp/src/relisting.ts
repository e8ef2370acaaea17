import { Ending } from './stoppable.ts';

/**
 * Runs a job again when it was asked for during a run, once for any number of times, and with a
 * pause between: a server may answer each listing with the word that its list has changed.
 */
export class Relisting {
  readonly #pauseMs: number;
  readonly #closing = new Ending();
  #next: (() => Promise<void>) | null = null;
  #running = false;

  constructor(pauseMs: number) {
    this.#pauseMs = pauseMs;
  }

  /** Has a job run soon. One that rejects is dropped: what was listed before stays. */
  ask(job: () => Promise<void>): void {
    this.#next = job;
    if (!this.#running) void this.#run();
  }

  /** Runs no more jobs. */
  close(): void {
    this.#next = null;
    this.#closing.end(new Error('closed'));
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#next !== null && this.#closing.error === null) {
      const job = this.#next;
      this.#next = null;
      await job().catch(() => undefined);
      await this.#closing.within(this.#pauseMs);
    }
    this.#running = false;
  }
}
