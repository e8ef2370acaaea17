import { LiveSessions, SessionStore, type SessionSummary } from '../sessions/index.ts';
import type { CheckedHostOptions } from './host-options.ts';
import { Rings } from './rings.ts';
import { StreamSlots } from './stream-slots.ts';
import { viewApproval, viewRunning } from './views.ts';
import type { WireApproval, WireRunning } from './wire.ts';

/** What a session is doing just now. */
export interface SessionNow {
  readonly running: WireRunning | null;
  readonly approvals: readonly WireApproval[];
}

/** What the routes of a host share. */
export class Hub {
  readonly store: SessionStore;
  readonly live: LiveSessions;
  readonly rings: Rings;
  readonly slots: StreamSlots;
  readonly options: CheckedHostOptions;
  readonly #closing = new AbortController();

  /** Throws a `TypeError` when the folder or a part is not what it has to be. */
  constructor(options: CheckedHostOptions) {
    const { folder, parts, ring, openSessions, streams } = options;
    this.options = options;
    this.store = new SessionStore(folder);
    this.rings = new Rings(ring, (id) => this.live.peek(id) !== null);
    this.slots = new StreamSlots(streams);
    this.live = new LiveSessions({
      store: this.store,
      parts,
      maxOpen: openSessions,
      publish: (id) => (event) => {
        this.rings.of(id).append(event);
      },
    });
  }

  /** Aborts when the host is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** What is known of a session. Rejects with a {@link HostError} `not_found`. */
  summary(id: string): Promise<SessionSummary> {
    return this.store.summary(id);
  }

  /** What a session is doing, without opening it. */
  now(id: string): SessionNow {
    const session = this.live.peek(id);
    if (session === null) return { running: null, approvals: [] };
    const approvals = session.approvals.list().map(viewApproval);
    return { running: viewRunning(session.running()), approvals };
  }

  /** Ends the streams, cancels what runs, closes the sessions. Rejects as `closeAll` does. */
  async close(): Promise<void> {
    await this.live.closeAll().finally(() => {
      this.#closing.abort(); // streams have told how the last turns ended by now
    });
  }
}
