import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

interface Message {
  readonly kind: string;
}

interface Waiting<Out> {
  readonly resolve: (message: Out) => void;
  readonly reject: (error: Error) => void;
}

/** A process of this folder that is told things and tells things. */
export class Child<In extends Message, Out extends Message> {
  readonly #process: ChildProcess;
  readonly #name: string;
  /** What it told and nobody has taken, and who waits, by kind. */
  readonly #told = new Map<string, Out[]>();
  readonly #waiting = new Map<string, Waiting<Out>>();
  /** Settles when it has ended and all of its output was read, with how it ended. */
  readonly exited: Promise<string>;
  #exit: string | null = null;
  #stderr = '';

  /** `file` is the module that it runs, with `settings` as its argument. */
  constructor(file: string, settings: unknown) {
    this.#name = file;
    this.#process = fork(join(import.meta.dirname, file), [JSON.stringify(settings)], {
      cwd: import.meta.dirname,
      execArgv: ['--expose-gc', '--import', 'tsx'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#process.on('message', (message) => {
      this.#onMessage(message as Out);
    });
    this.exited = new Promise((resolve) => {
      this.#process.on('close', (code, signal) => {
        const exit = signal ?? `code ${String(code)}`;
        this.#onExit(exit);
        resolve(exit);
      });
    });
  }

  /** What it wrote to its standard error. */
  get complaints(): string {
    return this.#stderr;
  }

  send(message: In): void {
    this.#process.send(message);
  }

  /**
   * The next message of a kind, each once; one at a time may be waited for. Rejects when the
   * process ends without.
   */
  async next<Kind extends Out['kind']>(kind: Kind): Promise<Extract<Out, { kind: Kind }>> {
    const message = this.#told.get(kind)?.shift() ?? (await this.#awaited(kind));
    return message as Extract<Out, { kind: Kind }>; // it was kept by its kind
  }

  /** So many messages of a kind. */
  async some<Kind extends Out['kind']>(
    count: number,
    kind: Kind,
  ): Promise<Extract<Out, { kind: Kind }>[]> {
    const messages: Extract<Out, { kind: Kind }>[] = [];
    while (messages.length < count) messages.push(await this.next(kind));
    return messages;
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  #awaited(kind: string): Promise<Out> {
    if (this.#exit !== null) return Promise.reject(this.#ended());
    return new Promise((resolve, reject) => {
      this.#waiting.set(kind, { resolve, reject });
    });
  }

  #onMessage(message: Out): void {
    const { kind } = message;
    const waiting = this.#waiting.get(kind);
    this.#waiting.delete(kind);
    if (waiting !== undefined) {
      waiting.resolve(message);
      return;
    }
    const told = this.#told.get(kind) ?? [];
    told.push(message);
    this.#told.set(kind, told);
  }

  #onExit(exit: string): void {
    this.#exit = exit;
    for (const { reject } of this.#waiting.values()) reject(this.#ended());
    this.#waiting.clear();
  }

  #ended(): Error {
    return new Error(`${this.#name} ended with ${String(this.#exit)}: ${this.#stderr}`);
  }
}
