import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Readable } from 'node:stream';

import { afterEach } from 'vitest';

type Child = ChildProcessByStdio<null, Readable, Readable>;

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const running = new Set<Child>();

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command of its own process, as `pnpm start` runs it: in the package, with `INIT_CWD` set. */
export class Celestea {
  readonly child: Child;
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';
  readonly #watchers = new Set<() => void>();

  constructor(typedIn: string, args: readonly string[], env: Record<string, string> = {}) {
    const { PATH = '', HOME = '' } = process.env;
    this.child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args], {
      cwd: PACKAGE,
      env: { PATH, HOME, INIT_CWD: typedIn, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this.child);
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      for (const watch of this.#watchers) watch();
    });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.ended = new Promise((resolve, reject) => {
      this.child.on('error', reject);
      this.child.on('close', (code) => {
        running.delete(this.child);
        resolve({ code, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  /** Settles when stdout holds the text; rejects when the process ends without. */
  printed(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const watch = (): void => {
        if (this.stdout.includes(text)) resolve();
      };
      this.#watchers.add(watch);
      watch();
      void this.ended.then(({ code, stdout, stderr }) => {
        const how = `ended with ${String(code)} before it printed ${JSON.stringify(text)}`;
        reject(new Error(`${how}: ${stdout}${stderr}`));
      });
    });
  }
}

/** Runs a command to its end. */
export function celestea(
  typedIn: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  return new Celestea(typedIn, args, env).ended;
}
