import { errorMessage } from '@celestea/agent-loop';

import type { Publish } from '../events/index.ts';
import { HostError } from './host-error.ts';
import { LiveSession } from './live-session.ts';
import type { LiveSessionParts } from './session-parts.ts';
import type { SessionStore } from './session-store.ts';

/** What {@link LiveSessions} works with. */
export interface LiveSessionsOptions {
  readonly store: Pick<SessionStore, 'open'>;
  /** Where the events of a session go; asked for each time one is opened. */
  readonly publish: (id: string) => Publish;
  readonly parts: LiveSessionParts;
  /** How many sessions are kept open in which nothing runs, at least 1. */
  readonly maxOpen: number;
}

interface Entry {
  readonly opened: Promise<LiveSession>;
  /** `null` while it is opened. */
  session: LiveSession | null;
}

/**
 * The sessions that are open in this process. Each is opened when it is first asked for; of
 * those in which nothing runs only the last used stay open. One that runs is never closed.
 */
export class LiveSessions {
  readonly #options: LiveSessionsOptions;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #closing = new Map<string, Promise<void>>();
  #isClosed = false;
  #allClosed: Promise<void> | null = null;
  #closesSurplus = false;

  constructor(options: LiveSessionsOptions) {
    this.#options = options;
  }

  /**
   * The session, opened unless it is open; those who ask at the same time share one. It may be
   * closed again as soon as whoever asked waits for something else: use it at once.
   *
   * Rejects as `open` of the store does, and with a {@link HostError} `gone` after
   * {@link closeAll}.
   */
  async get(id: string): Promise<LiveSession> {
    for (;;) {
      this.#checkOpen();
      const closing = this.#closing.get(id);
      if (closing !== undefined) {
        await closing;
        continue;
      }
      const entry = this.#used(id);
      const session = await entry.opened;
      this.#checkOpen();
      if (!session.isClosed && session.broken === null) return session;
      if (this.#entries.get(id) === entry) this.#close(id, session);
    }
  }

  /** The session when it is open, without opening it or counting that as use; else `null`. */
  peek(id: string): LiveSession | null {
    return this.#entries.get(id)?.session ?? null;
  }

  /** Whether it is open, or is just being opened or closed. */
  holds(id: string): boolean {
    return this.#entries.has(id) || this.#closing.has(id);
  }

  /** How many sessions are open. */
  get openCount(): number {
    return [...this.#entries.values()].filter(({ session }) => session !== null).length;
  }

  /**
   * Closes every session, cancelling what runs, and waits for it; no session is opened after
   * that. Rejects with the first fault, when all others are closed.
   */
  closeAll(): Promise<void> {
    this.#isClosed = true;
    this.#allClosed ??= this.#closeAll();
    return this.#allClosed;
  }

  async #closeAll(): Promise<void> {
    const entries = [...this.#entries.values()];
    const opened = await Promise.allSettled(entries.map((entry) => entry.opened));
    const sessions = opened.filter((result) => result.status === 'fulfilled');
    const closed = await Promise.allSettled(sessions.map(({ value }) => value.close()));
    await Promise.all(this.#closing.values());
    this.#entries.clear(); // until then its last events belong to a session that is there
    const failed = closed.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  /** The entry, which is the last used now. */
  #used(id: string): Entry {
    const entry = this.#entries.get(id) ?? this.#open(id);
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry;
  }

  #open(id: string): Entry {
    const opened = this.#opened(id);
    const entry: Entry = { opened, session: null };
    opened.then(
      (session) => {
        entry.session = session;
        this.#closeSurplusSoon();
      },
      () => {
        if (this.#entries.get(id) === entry) this.#entries.delete(id);
      },
    );
    return entry;
  }

  async #opened(id: string): Promise<LiveSession> {
    const { store, publish, parts } = this.#options;
    const log = await store.open(id);
    try {
      const onIdle = (): void => {
        this.#closeSurplusSoon();
      };
      return new LiveSession({ id, log, publish: publish(id), parts, onIdle });
    } catch (error) {
      await log.close();
      throw error;
    }
  }

  /** Not at once: whoever was given a session just now is to come to its use first. */
  #closeSurplusSoon(): void {
    if (this.#closesSurplus) return;
    this.#closesSurplus = true;
    setImmediate(() => {
      this.#closesSurplus = false;
      this.#closeSurplus();
    });
  }

  #closeSurplus(): void {
    const open = [...this.#entries.values()].flatMap(({ session }) => session ?? []);
    const idle = open.filter((session) => session.running() === null);
    for (const session of idle.slice(0, -this.#options.maxOpen)) this.#close(session.id, session);
  }

  /** Closes it on the side; whoever asks for it meanwhile waits. */
  #close(id: string, session: LiveSession): void {
    this.#entries.delete(id);
    const wasBroken = session.broken !== null;
    const closing = session
      .close()
      .catch((error: unknown) => {
        if (wasBroken) return; // it was told
        const payload = { phase: 'diagnostic', kind: 'close', message: errorMessage(error) } as const;
        this.#options.publish(id)({ name: 'status', turn: null, payload });
      })
      .finally(() => {
        this.#closing.delete(id);
      });
    this.#closing.set(id, closing);
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new HostError('gone', 'the sessions are closed');
  }
}
