import { PassThrough, Writable } from 'node:stream';

import type { Terminal } from '../../src/io.ts';

/** What a key sends. */
export const KEY = {
  enter: '\r',
  ctrlC: '\x03',
  ctrlD: '\x04',
  ctrlU: '\x15',
  backspace: '\x7f',
  up: '\x1b[A',
} as const;

/** A terminal as two streams: what is typed goes in, what is shown is kept. */
export class FakeTerminal implements Terminal {
  readonly input = new PassThrough();
  readonly output: Writable;
  /** Everything that was written, escape codes and all. */
  raw = '';
  #seen = 0;
  readonly #watchers = new Set<() => void>();

  constructor(columns = 80) {
    const output = new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        this.raw += text;
        done();
        for (const watch of [...this.#watchers]) watch();
      },
    });
    this.output = Object.assign(output, { columns, isTTY: true });
  }

  /** What a person reads, the codes left out. */
  get text(): string {
    // eslint-disable-next-line no-control-regex -- the codes are what it is about
    return this.raw.replace(/\x1b\[[0-9;]*[A-Za-z]/g, '').replace(/\r/g, '');
  }

  type(...keys: readonly string[]): void {
    for (const key of keys) this.input.write(key);
  }

  /** Settles when the text is shown, after what was waited for before. */
  shows(text: string): Promise<void> {
    return new Promise((resolve) => {
      const watch = (): void => {
        const at = this.raw.indexOf(text, this.#seen);
        if (at < 0) return;
        this.#seen = at + text.length;
        this.#watchers.delete(watch);
        resolve();
      };
      this.#watchers.add(watch);
      watch();
    });
  }
}
