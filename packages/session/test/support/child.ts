import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { buildSync } from 'esbuild';
import { afterAll, onTestFinished } from 'vitest';

/**
 * Compiles a script of this folder, so that many processes of it start fast. Called where a
 * test file is collected; what it made is removed after the file's tests.
 */
export function compiled(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'celestea-child-'));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const outfile = join(folder, `${name}.mjs`);
  buildSync({
    entryPoints: [join(import.meta.dirname, `${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return outfile;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** A Node process that talks in lines. It does not outlive its test. */
export class Child {
  readonly exited: Promise<Exit>;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: string[] = [];
  #last: string | null = null;
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(script: string, args: readonly string[] = [], nodeArgs: readonly string[] = []) {
    const child = spawn(process.execPath, [...nodeArgs, script, ...args]);
    this.#process = child;
    let rest = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      this.#lines.push(...lines);
      this.#last = lines.at(-1) ?? this.#last;
      this.#wake();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin.on('error', () => undefined); // it may be gone already
    this.exited = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        this.#ended = true;
        this.#wake();
        resolve({ code, signal, stderr });
      });
    });
    onTestFinished(async () => {
      await this.kill();
    });
  }

  get pid(): number {
    const { pid } = this.#process;
    if (pid === undefined) throw new Error('it did not start');
    return pid;
  }

  /** Its next line; `null` when it ended without one. */
  async line(): Promise<string | null> {
    while (this.#lines.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#lines.shift() ?? null;
  }

  /** The last line that came and was whole, whether it was asked for or not. */
  get lastLine(): string | null {
    return this.#last;
  }

  send(line: string): void {
    this.#process.stdin.write(`${line}\n`);
  }

  /** Sends SIGKILL and waits until the process is gone; does nothing to one that ended. */
  async kill(): Promise<Exit> {
    this.#process.kill('SIGKILL');
    return this.exited;
  }

  /** Closes its input and waits for its end. */
  async end(): Promise<Exit> {
    this.#process.stdin.end();
    return this.exited;
  }
}
