import { thrownText } from '@celestea/tools';
import { RestartBudget, type RestartLimits } from './restart-budget.ts';
import { NotSentError, Session } from './session.ts';
import type { Dial, Link } from './source.ts';
import { after, Ending, stoppable, type Stop } from './stoppable.ts';

/** What a connection is set up with. */
export interface ConnectionOptions extends RestartLimits {
  dial: Dial;
  startTimeoutMs: number;
  /** The rest of the start, which counts to its time: a session is up when this has resolved. */
  onStart: (session: Session) => Promise<void>;
  onListChanged: (session: Session) => void;
}

type State =
  | { kind: 'starting'; started: Promise<Session> }
  | { kind: 'up'; session: Session }
  | { kind: 'down'; why: string }
  | { kind: 'closed' };

/** What there is of a start so far. */
interface Attempt {
  link?: Link;
  session?: Session;
}

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

  /** Starts the server; to be called once. */
  async start(): Promise<void> {
    await this.#start();
  }

  /**
   * Does something with the session that is up, and starts the server again for it when it died.
   * Work that cannot have reached the server is done again on the session after.
   */
  async use<T>(stops: readonly Stop[], work: (session: Session) => Promise<T>): Promise<T> {
    for (let again = true; ; again = false) {
      const session = await stoppable([this.#closing.stop, ...stops], () => this.#current());
      try {
        return await work(session);
      } catch (error) {
        const isLast = !again || this.#closing.error !== null;
        if (!(error instanceof NotSentError) || isLast) throw this.#told(error, session);
      }
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
    this.#closing.end(new Error(`MCP server ${this.#name}: it was closed`));
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
    return this.#start();
  }

  #start(): Promise<Session> {
    const started = this.#open();
    this.#state = { kind: 'starting', started };
    return started;
  }

  async #open(): Promise<Session> {
    const { dial, startTimeoutMs } = this.#options;
    const attempt: Attempt = {};
    const text = `no answer within ${String(startTimeoutMs)} ms`;
    const late = after(startTimeoutMs, () => new Error(text));
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
      const words = attempt.link?.kind === 'transport' ? attempt.link.lastWords() : '';
      const why = `could not be started: ${withWords(thrownText(error), words)}`;
      if (attempt.session !== undefined) await this.#sweep(attempt.session, why);
      if (this.#closing.error !== null) throw this.#closing.error;
      this.#state = { kind: 'down', why };
      throw new Error(`MCP server ${dial.label}: ${why}`, { cause: error });
    }
  }

  async #attempt(attempt: Attempt, signal: AbortSignal): Promise<Session> {
    const { dial, onStart, onListChanged } = this.#options;
    const link = await dial.dial();
    if (signal.aborted) {
      if (link.kind === 'transport') await link.transport.close();
      throw new Error('it came too late');
    }
    const session: Session = new Session(link, {
      onListChanged: () => {
        onListChanged(session);
      },
      onEnd: (error) => {
        this.#onEnd(session, error);
      },
    });
    attempt.link = link;
    attempt.session = session;
    await session.start();
    await onStart(session);
    return session;
  }

  #onEnd(session: Session, error: Error): void {
    const state = this.#state;
    if (state.kind === 'up' && state.session === session) {
      this.#state = { kind: 'down', why: thrownText(error) };
    }
    void this.#sweep(session, thrownText(error));
  }

  async #sweep(session: Session, why: string): Promise<void> {
    const swept = session.close(new Error(why));
    this.#sweeping.add(swept);
    await swept;
    this.#sweeping.delete(swept);
  }

  #error(why: string): Error {
    return new Error(`MCP server ${this.#name}: ${why}`);
  }

  /** The end of a session does not say whose it was. */
  #told(error: unknown, session: Session): unknown {
    const isEnd = error === session.ended || error instanceof NotSentError;
    return isEnd ? this.#error(thrownText(error)) : error;
  }
}

const withWords = (text: string, words: string): string =>
  words === '' || text.includes(words) ? text : `${text}; ${words}`;
