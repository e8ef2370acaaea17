import type { CliIo } from '../../src/io.ts';

/** A clock that stands still until it is told. */
export class FakeClock {
  #milliseconds = 1000;

  readonly now = (): number => this.#milliseconds;

  pass(milliseconds: number): void {
    this.#milliseconds += milliseconds;
  }
}

/** Collects what is written. */
export class FakeOutput {
  text = '';
  readonly isTTY: boolean;
  readonly #onWrite: (text: string) => void;

  constructor(isTTY = false, onWrite: (text: string) => void = () => undefined) {
    this.isTTY = isTTY;
    this.#onWrite = onWrite;
  }

  write(text: string): void {
    this.text += text;
    this.#onWrite(text);
  }
}

export interface FakeIo extends CliIo {
  readonly stdout: FakeOutput;
  readonly stderr: FakeOutput;
}

export function fakeIo(given: Partial<FakeIo> = {}): FakeIo {
  return {
    stdout: new FakeOutput(),
    stderr: new FakeOutput(),
    env: {},
    cwd: '/',
    signal: new AbortController().signal,
    now: new FakeClock().now,
    ...given,
  };
}
