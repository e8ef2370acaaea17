import { readContext, readRows, readSession, type ApiReply } from './api.ts';
import { listenToEvents } from './events.ts';
import { frameQueue, type FrameQueue } from './frame-queue.ts';
import { conversation, type Action } from './model/conversation.ts';
import {
  EMPTY_CONVERSATION,
  type Connection,
  type Conversation,
  type EventAction,
} from './model/view.ts';
import { takeStreamSlot } from './stream-slots.ts';

/** The longest wait before the host is asked again, in milliseconds. */
const MAX_RETRY_MS = 15_000;
/** How often the host is asked by a tab without a stream, in milliseconds. */
const POLL_MS = 3000;
/** The same while nobody looks: its title still tells whether a turn runs. */
const AWAY_POLL_MS = 30_000;

/**
 * Shows one session at a time and follows it: its state, its last rows, then its events from that
 * instant on. A tab that nobody looks at, or that finds no free stream, asks for what came again
 * and again instead.
 */
export class SessionWatch {
  readonly #queue: FrameQueue<Action>;
  #view = EMPTY_CONVERSATION;
  #id: string | null = null;
  /** Tells answers for what is shown from answers for what was. */
  #attempt = 0;
  #failures = 0;
  #isLoadingOlder = false;
  #isAway = false;
  /** The seq of the last event that came. */
  #lastSeq = -1;
  #stopEvents: () => void = () => undefined;
  #retryTimer: number | undefined;
  #pollTimer: number | undefined;

  /** `onChange` is told what is shown, at most once a frame. */
  constructor(onChange: (view: Conversation) => void) {
    this.#queue = frameQueue((actions) => {
      this.#view = actions.reduce(conversation, this.#view);
      onChange(this.#view);
    });
  }

  /** Shows a session, or with `null` none. */
  open(id: string | null): void {
    if (id === this.#id) return;
    this.#id = id;
    this.#failures = 0;
    this.#stop();
    this.#queue.push({ type: 'closed' });
    if (id === null) return;
    this.#tell('connecting');
    void this.#follow(id);
  }

  /** Asks at once instead of waiting for the next attempt. */
  retry(): void {
    if (this.#id !== null) void this.#follow(this.#id);
  }

  /** Nobody looks: the stream is left to other tabs. */
  readonly leave = (): void => {
    this.#isAway = true;
    if (this.#id === null || this.#view.session !== this.#id) return;
    this.#stop();
    this.#pollLater(this.#id);
  };

  /** Somebody looks again. */
  readonly comeBack = (): void => {
    this.#isAway = false;
    this.retry();
  };

  /** Something was done that a tab without a stream would learn of late. */
  lookSoon(): void {
    if (this.#pollTimer !== undefined && this.#id !== null) void this.#poll(this.#id);
  }

  /** Loads the page of rows before the first one that is there. */
  async loadOlder(): Promise<void> {
    const { session, previous } = this.#view;
    if (session === null || previous === null || this.#isLoadingOlder) return;
    this.#isLoadingOlder = true;
    const mine = this.#attempt;
    const page = await readRows(session, previous);
    this.#isLoadingOlder = false;
    if (!page.ok || mine !== this.#attempt) return;
    this.#queue.push({ type: 'older', session, page: page.value });
  }

  #stop(): void {
    this.#attempt += 1;
    this.#stopEvents();
    this.#stopEvents = () => undefined;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#pollTimer);
    this.#pollTimer = undefined;
  }

  async #follow(id: string): Promise<void> {
    this.#stop();
    const state = await this.#reply(id, readSession(id));
    if (state === null) return;
    const page = await this.#reply(id, readRows(id, state.rows));
    if (page === null) return;
    this.#queue.push({ type: 'opened', state, page, now: Date.now() });
    this.#lastSeq = state.last_event_id;
    await this.#goOn(id);
  }

  /** What the host says; `null` when it refuses, or something else is shown by then. */
  async #reply<T>(id: string, asked: Promise<ApiReply<T>>): Promise<T | null> {
    const mine = this.#attempt;
    const reply = await asked;
    if (mine !== this.#attempt) return null;
    if (reply.ok) return reply.value;
    this.#failed(id, reply.error.code);
    return null;
  }

  /** Streams what comes, or asks for it later. */
  async #goOn(id: string): Promise<void> {
    const mine = this.#attempt;
    const release = this.#isAway ? null : await takeStreamSlot(locksOfBrowser());
    if (mine !== this.#attempt) {
      release?.();
    } else if (release === null) {
      if (!this.#isAway) this.#tell('polling');
      this.#pollLater(id);
    } else {
      const stop = this.#stream(id);
      this.#stopEvents = () => {
        stop();
        release();
      };
    }
  }

  #stream(id: string): () => void {
    return listenToEvents(id, this.#lastSeq, {
      onOpen: () => {
        this.#failures = 0;
        this.#tell('open');
      },
      onEvent: (event) => {
        this.#take(id, event);
      },
      onLost: () => {
        this.#tell('lost');
      },
      // why it was refused, a stream does not say: the next request does
      onRefused: () => {
        this.#stop();
        this.#failed(id, 'refused');
      },
    });
  }

  #pollLater(id: string): void {
    const waitMs = this.#isAway ? AWAY_POLL_MS : POLL_MS;
    this.#pollTimer = setTimeout(() => void this.#poll(id), waitMs);
  }

  async #poll(id: string): Promise<void> {
    this.#stop();
    const state = await this.#reply(id, readSession(id));
    if (state === null) return;
    this.#failures = 0;
    await (state.last_event_id === this.#lastSeq ? this.#goOn(id) : this.#follow(id));
  }

  #take(id: string, event: EventAction): void {
    const status = event.name === 'status' ? event.payload : null;
    if (status?.phase === 'lagged') {
      void this.#follow(id);
      return;
    }
    this.#lastSeq = Math.max(this.#lastSeq, event.seq);
    this.#queue.push(event);
    // the last status of a turn: the session is open, and its next request costs little to make
    if (status !== null && 'milliseconds' in status) void this.#measure(id);
  }

  async #measure(id: string): Promise<void> {
    const reply = await readContext(id);
    if (!reply.ok) return;
    const { tokens, window } = reply.value.context;
    this.#queue.push({ type: 'context', session: id, context: { used: tokens.total, window } });
  }

  /** Nothing helps against the first two but somebody who does something. */
  #failed(id: string, code: string): void {
    if (code === 'unauthorized') this.#tell('locked');
    else if (code === 'not_found') this.#tell('missing');
    else {
      this.#tell('lost');
      const waitMs = Math.min(MAX_RETRY_MS, 1000 * 2 ** this.#failures);
      this.#failures += 1;
      this.#retryTimer = setTimeout(() => void this.#follow(id), waitMs);
    }
  }

  #tell(connection: Connection): void {
    this.#queue.push({ type: 'connection', connection });
  }
}

/** A page that came over a network without TLS has none. */
function locksOfBrowser(): LockManager | null {
  return 'locks' in navigator ? navigator.locks : null;
}
