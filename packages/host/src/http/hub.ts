import { setMaxListeners } from 'node:events';

import type { SessionEvent } from '@celestea/core';

import { Observer } from '../observe/index.ts';
import { LiveSessions, SessionStore } from '../sessions/index.ts';
import type { WireNow, WireSession, WireState } from '../wire.ts';
import { AccessToken } from './access-token.ts';
import type { CheckedHostOptions } from './host-options.ts';
import { Rings } from './rings.ts';

/** What the routes of a host share. */
export class Hub {
  readonly store: SessionStore;
  readonly live: LiveSessions;
  readonly rings: Rings;
  readonly options: CheckedHostOptions;
  readonly token: AccessToken;
  readonly observer: Observer;
  /** Streams of events that are open. */
  readers = 0;
  readonly #closing = new AbortController();

  constructor(options: CheckedHostOptions) {
    const { folder, parts, ring, openSessions, log, onFault } = options;
    this.options = options;
    setMaxListeners(0, this.#closing.signal); // one for each stream, of which there is a limit
    const token = new AccessToken(options.token);
    this.token = token;
    this.store = new SessionStore(folder);
    this.rings = new Rings(ring, (id) => this.live.peek(id) !== null);
    this.live = new LiveSessions({
      store: this.store,
      parts,
      maxOpen: openSessions,
      publish: (id) => (event) => {
        this.rings.of(id).append(event);
        this.observer.onEvent(id, event);
      },
    });
    this.observer = new Observer({
      log,
      onFault,
      redact: (text) => token.redact(text),
      readers: () => this.readers,
      openSessions: () => this.live.openCount,
      isTool: (id, name) => this.live.peek(id)?.hasTool(name) ?? false,
    });
  }

  /** Aborts when the host is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** What is known of a session. Rejects with a `HostError` `not_found`. */
  async session(id: string): Promise<WireSession> {
    return { ...(await this.store.summary(id)), running: this.isRunning(id) };
  }

  /** Whether a turn runs in a session. */
  isRunning(id: string): boolean {
    return (this.live.peek(id)?.running() ?? null) !== null;
  }

  /** What a session is doing, without opening it. */
  now(id: string): WireNow {
    const session = this.live.peek(id);
    return { running: session?.running() ?? null, approvals: session?.approvals.list() ?? [] };
  }

  /** Every row of a session; of one that is open, without the disk. Rejects as the store does. */
  async rows(id: string): Promise<readonly SessionEvent[]> {
    return this.live.peek(id)?.rows() ?? this.store.rows(id);
  }

  /**
   * One instant of a session: its rows, what runs, and the events after the last one are all that
   * there is, and nothing of it is there twice. Rejects as the store does.
   */
  async state(id: string): Promise<WireState> {
    const release = this.rings.hold(id);
    try {
      for (;;) {
        const last = this.rings.lastSeq(id);
        const session = this.live.peek(id);
        if (session !== null) return this.#stateOf(id, session.rows().length);
        const { length } = await this.store.rows(id);
        // what was opened meanwhile may have written rows, even if it is closed again
        const isStill = this.live.peek(id) === null && this.rings.lastSeq(id) === last;
        if (isStill) return this.#stateOf(id, length);
      }
    } finally {
      release();
    }
  }

  #stateOf(id: string, rows: number): WireState {
    return {
      ...this.now(id),
      rows,
      last_event_id: this.rings.lastSeq(id),
      undelivered: this.live.peek(id)?.undelivered ?? [],
      held_elsewhere: !this.live.holds(id) && this.store.isHeld(id),
    };
  }

  /** Ends the streams, cancels what runs, closes the sessions. Rejects as `closeAll` does. */
  async close(): Promise<void> {
    await this.live.closeAll().finally(() => {
      this.#closing.abort(); // streams have told how the last turns ended by now
    });
  }
}
