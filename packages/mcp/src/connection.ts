import { thrownText } from '@celestea/tools';

import type { McpSettings } from './options.ts';
import { NotSentError, ServerError, Session } from './session.ts';
import type { Dial } from './source.ts';
import { after, Ending, onAbort, stoppable } from './stoppable.ts';

/** How often a server may be started again, and the time in milliseconds from any moment on. */
export type RestartLimits = Pick<McpSettings, 'restarts' | 'restartWindowMs'> & {
  now: () => number;
};

/** What a connection is set up with. */
export type ConnectionOptions = RestartLimits & {
  dial: Dial;
  startTimeoutMs: number;
  /** Takes over the list of tools, as the last part of a start and whenever it has changed. */
  list: (session: Session) => Promise<void>;
};

type State =
  | { kind: 'starting'; started: Promise<Session> }
  | { kind: 'up'; session: Session }
  | { kind: 'down'; why: string }
  | { kind: 'closed' };

/** A server across its restarts: at most one session at a time. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #restarts: RestartBudget;
  readonly #closing = new Ending();
  readonly #sweeping = new Set<Promise<void>>();
  #state: State = { kind: 'down', why: 'not started' };
  #name: string;
  #closed: Promise<void> | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#restarts = new RestartBudget(options);
    this.#name = options.dial.label;
  }

  /** What the server calls itself, and what it is called until it does. */
  get name(): string {
    return this.#name;
  }

  /** Starts the server; to be called once, as what dies is started again by its use. */
  start(): Promise<Session> {
    const started = this.#open();
    this.#state = { kind: 'starting', started };
    return started;
  }

  /**
   * Does something with the session that is up, and starts the server again for it when it died.
   * Work that cannot have reached the server is done again on the session after.
   */
  async use<T>(
    signal: AbortSignal | undefined,
    work: (session: Session) => Promise<T>,
    again = true,
  ): Promise<T> {
    const stops = [this.#closing.stop, onAbort(signal)];
    const session = await stoppable(stops, () => this.#current());
    try {
      return await work(session);
    } catch (error) {
      if (error instanceof NotSentError && again && this.#closing.error === null) {
        return this.use(signal, work, false);
      }
      throw error instanceof ServerError ? this.#error(thrownText(error)) : error;
    }
  }

  /** Ends what is running; resolves when nothing of it is left. Never rejects. */
  async close(): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async #close(): Promise<void> {
    const before = this.#state;
    this.#state = { kind: 'closed' };
    this.#closing.end(this.#error('it was closed'));
    if (before.kind === 'starting') await before.started.catch(() => undefined);
    if (before.kind === 'up') await this.#sweep(before.session, 'it was closed');
    await Promise.all(this.#sweeping);
  }

  async #current(): Promise<Session> {
    const state = this.#state;
    switch (state.kind) {
      case 'up':
        return state.session;
      case 'starting':
        return state.started;
      case 'down':
        return this.#restart(state.why);
      case 'closed':
        throw this.#error('it was closed');
      default:
        return state satisfies never;
    }
  }

  #restart(why: string): Promise<Session> {
    if (!this.#options.dial.again) throw this.#error(why);
    const refusal = this.#restarts.take();
    if (refusal !== null) throw this.#error(`${why}; ${refusal}`);
    return this.start();
  }

  async #open(): Promise<Session> {
    const { dial, startTimeoutMs } = this.#options;
    const attempt: { session?: Session } = {};
    const late = after(startTimeoutMs, `no answer within ${String(startTimeoutMs)} ms`);
    try {
      const session = await stoppable([this.#closing.stop, late], (signal) =>
        this.#attempt(attempt, signal),
      );
      const over = this.#closing.error ?? session.ended;
      if (over !== null) throw over;
      this.#name = session.serverName ?? dial.label;
      this.#state = { kind: 'up', session };
      return session;
    } catch (error) {
      const said = thrownText(error);
      const words = attempt.session?.lastWords() ?? '';
      const more = words === '' || said.includes(words) ? '' : `; ${words}`;
      const why = `could not be started: ${said}${more}`;
      if (attempt.session !== undefined) await this.#sweep(attempt.session, why);
      if (this.#closing.error !== null) throw this.#closing.error;
      this.#state = { kind: 'down', why };
      throw new Error(`MCP server ${dial.label}: ${why}`, { cause: error });
    }
  }

  async #attempt(attempt: { session?: Session }, signal: AbortSignal): Promise<Session> {
    const { dial, list } = this.#options;
    const link = await dial.dial();
    const session: Session = new Session(link, {
      onListChanged: () => list(session),
      onEnd: (error) => {
        this.#onEnd(session, error);
      },
    });
    attempt.session = session;
    if (signal.aborted) {
      await this.#sweep(session, 'it came too late');
      throw new Error('it came too late');
    }
    await session.start();
    await list(session);
    return session;
  }

  #onEnd(session: Session, error: ServerError): void {
    const why = thrownText(error);
    const state = this.#state;
    if (state.kind === 'up' && state.session === session) this.#state = { kind: 'down', why };
    void this.#sweep(session, why);
  }

  async #sweep(session: Session, why: string): Promise<void> {
    const swept = session.close(why);
    this.#sweeping.add(swept);
    await swept;
    this.#sweeping.delete(swept);
  }

  #error(why: string): Error {
    return new Error(`MCP server ${this.#name}: ${why}`);
  }
}

/** The restarts that are left: one that lies further back than the window is given back. */
export class RestartBudget {
  readonly #limits: RestartLimits;
  /** When the restarts that count were made, oldest first. */
  #made: number[] = [];

  constructor(limits: RestartLimits) {
    this.#limits = limits;
  }

  /** Takes one, and gives `null`; or says why there is none, and for how long. */
  take(): string | null {
    const { restarts, restartWindowMs = Infinity, now } = this.#limits;
    const time = now();
    const since = time - restartWindowMs;
    this.#made = this.#made.filter((made) => made > since);
    if (this.#made.length < restarts) {
      this.#made.push(time);
      return null;
    }
    const [oldest] = this.#made;
    if (oldest === undefined || since === -Infinity) {
      return `no more restarts are tried (${String(restarts)} in all)`;
    }
    const used = `${String(restarts)} within ${seconds(restartWindowMs)}`;
    return `no more restarts are tried for ${seconds(oldest - since)} (${used})`;
  }
}

const seconds = (ms: number): string => `${String(Math.ceil(ms / 1000))} s`;
