import { fork, type ChildProcess } from 'node:child_process';
import process from 'node:process';

import { BENCH, workerFile } from './prepare.ts';
import type { Answer, Figures, Order } from './protocol.ts';

/** A run that takes longer has failed. */
const MAX_RUN_MS = 120_000;

/** No telemetry: it would be measured, and it would call out. */
const ENVIRONMENT = {
  NODE_ENV: 'production',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
  LANGSMITH_TRACING: 'false',
  LANGCHAIN_TRACING_V2: 'false',
  LANGCHAIN_CALLBACKS_BACKGROUND: 'false',
};

/** A child process that measures one thing. */
export class Worker {
  readonly #child: ChildProcess;

  constructor(name: string, execArgv: readonly string[] = ['--expose-gc']) {
    this.#child = fork(workerFile(name), [], {
      cwd: BENCH,
      env: { PATH: process.env['PATH'], ...ENVIRONMENT },
      execArgv: [...execArgv],
      stdio: ['ignore', 2, 2, 'ipc'],
    });
  }

  /** One run. Rejects when it fails, takes too long, or its process ends. */
  run(order: Order): Promise<Figures> {
    const child = this.#child;
    return new Promise((resolve, reject) => {
      const settle = (answer: Answer): void => {
        clearTimeout(timer);
        child.off('message', settle);
        child.off('exit', onExit);
        if (answer.ok) resolve(answer.figures);
        else reject(new Error(answer.message));
      };
      const onExit = (): void => {
        settle({ ok: false, message: 'its process ended' });
      };
      const timer = setTimeout(() => {
        settle({ ok: false, message: `more than ${String(MAX_RUN_MS / 1000)} s` });
        child.kill('SIGKILL');
      }, MAX_RUN_MS);
      child.on('message', settle);
      child.on('exit', onExit);
      child.send(order);
    });
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    await new Promise((resolve) => {
      this.#child.once('exit', resolve);
      if (this.#child.connected) this.#child.disconnect();
      else this.#child.kill('SIGKILL');
    });
  }
}
