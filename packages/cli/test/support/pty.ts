import { spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { afterEach } from 'vitest';

type Child = ChildProcessByStdio<Writable, Readable, null>;

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const PYTHON = 'python3';
/** Runs the words it is given on a terminal of their own, with this process at its other end. */
const ON_A_PTY =
  'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
const running = new Set<Child>();

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** Whether this machine can make a terminal. */
export const hasPty =
  spawnSync(PYTHON, ['-c', 'import os, pty; os.waitstatus_to_exitcode']).status === 0;

/** A command on a real terminal. */
export class OnTerminal {
  readonly ended: Promise<number | null>;
  readonly #child: Child;
  #output = '';
  #seen = 0;
  #watch: () => void = () => undefined;

  constructor(typedIn: string, args: readonly string[]) {
    const { PATH = '', HOME = '' } = process.env;
    const command = [process.execPath, '--import', 'tsx', MAIN, ...args];
    this.#child = spawn(PYTHON, ['-c', ON_A_PTY, ...command], {
      cwd: PACKAGE,
      env: { PATH, HOME, INIT_CWD: typedIn, TERM: 'xterm', NO_COLOR: '1' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    running.add(this.#child);
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
      this.#watch();
    });
    this.ended = new Promise((resolve, reject) => {
      this.#child.on('error', reject);
      this.#child.on('close', (code) => {
        running.delete(this.#child);
        resolve(code);
      });
    });
  }

  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Settles when the text is shown, after what was waited for before. */
  shows(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#watch = () => {
        const at = this.#output.indexOf(text, this.#seen);
        if (at < 0) return;
        this.#seen = at + text.length;
        resolve();
      };
      this.#watch();
      void this.ended.then(() => {
        reject(new Error(`ended before it showed ${JSON.stringify(text)}: ${this.#output}`));
      });
    });
  }
}
