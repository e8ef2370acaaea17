import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  ResultSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { ChildTransport } from './child-transport.ts';
import type { Link } from './source.ts';
import { Ending, MAX_TIMER_MS, onAbort, stoppable } from './stoppable.ts';
import { cutText } from './text.ts';

const MAX_NAME = 100;
/** The least time between two listings that a server asks for (ms). */
const RELIST_PAUSE_MS = 50;
const { RequestTimeout } = ErrorCode;

/** What a session tells the one who holds it. */
export interface SessionEvents {
  /** The list of tools has changed; what it rejects with is dropped. */
  onListChanged(): Promise<void>;
  onEnd(error: ServerError): void;
}

/** What is wrong with a server, which it does not name. */
export class ServerError extends Error {}

/** A request that cannot have reached the server: sending it again is safe. */
export class NotSentError extends ServerError {}

/**
 * One connected client, from its first message to its end. A request ends when the session
 * does, whatever becomes of the SDK's promise.
 */
export class Session {
  readonly #link: Link;
  readonly #client: Client;
  readonly #events: SessionEvents;
  readonly #ending = new Ending();
  readonly #restore: () => void;
  #started = false;
  #changed = false;
  #relisting = false;
  #probing = false;

  constructor(link: Link, events: SessionEvents) {
    this.#link = link;
    this.#events = events;
    this.#client =
      link.kind === 'client' ? link.client : new Client({ name: 'celestea', version: '0.1.0' });
    this.#restore = this.#listen();
  }

  /** Why it ended, or `null` while it is up. */
  get ended(): Error | null {
    return this.#ending.error;
  }

  /** The name the server gave itself, or `null`. */
  get serverName(): string | null {
    const name = this.#client.getServerVersion()?.name.trim() ?? '';
    return name === '' ? null : cutText(name.replaceAll(/\s+/g, ' '), MAX_NAME);
  }

  /** How its process ended and what that said at last; empty when there is none. */
  lastWords(): string {
    const link = this.#link;
    if (link.kind === 'client' || !(link.transport instanceof ChildTransport)) return '';
    return link.transport.lastWords();
  }

  /** The first exchange of messages; rejects when there is no server that speaks the protocol. */
  async start(): Promise<void> {
    const link = this.#link;
    if (link.kind === 'transport') {
      // The time is the caller's to keep: the SDK's own limit is 60 seconds.
      await stoppable([this.#ending.stop], () =>
        this.#client.connect(link.transport, { timeout: MAX_TIMER_MS }),
      );
      answerAfterProgress(link.transport);
    } else if (link.client.transport === undefined) {
      throw new Error('the client is not connected');
    }
    this.#started = true;
  }

  /**
   * Sends a request. One that is aborted, or runs out of its `timeout` (there is none by default),
   * is cancelled at the server, too.
   */
  async request(
    method: string,
    params: Record<string, unknown>,
    options: RequestOptions = {},
  ): Promise<Record<string, unknown>> {
    if (this.ended !== null) throw new NotSentError(this.ended.message, { cause: this.ended });
    const { timeout = MAX_TIMER_MS } = options;
    try {
      return await stoppable([this.#ending.stop, onAbort(options.signal)], (signal) =>
        this.#client
          .request({ method, params }, ResultSchema, { ...options, timeout, signal })
          .catch((error: unknown) => {
            throw this.#readFailure(error, timeout);
          }),
      );
    } catch (error) {
      // Only now that it waits no more: the end would reject this request as it does the others.
      if (error instanceof NotSentError) this.#end(error.message, error.cause);
      throw error;
    }
  }

  /** What a request failed with, in our words where it is about the server and not its own. */
  #readFailure(error: unknown, timeout: number): unknown {
    if (wasRefused(error)) {
      const words = this.lastWords();
      if (words !== '') return new NotSentError(words);
      return new NotSentError('the server is not there any more', { cause: error });
    }
    const isLate = error instanceof Error && 'code' in error && error.code === RequestTimeout;
    return isLate ? new ServerError(`no answer within ${String(timeout)} ms`) : error;
  }

  /** Ends it and lets go of the server; a client that was handed in stays connected. */
  async close(reason: string): Promise<void> {
    this.#ending.end(new ServerError(reason));
    this.#restore();
    if (this.#link.kind === 'client') return;
    await this.#link.transport.close().catch(() => undefined);
  }

  #listen(): () => void {
    const client = this.#client;
    const { onclose, onerror } = client;
    client.onclose = () => {
      onclose?.();
      this.#end(this.lastWords() || 'the connection was closed');
    };
    client.onerror = (error) => {
      onerror?.(error);
      this.#probe();
    };
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      this.#changed = true;
      void this.#relist();
    });
    return () => {
      client.removeNotificationHandler('notifications/tools/list_changed');
      Object.assign(client, { onclose, onerror });
    };
  }

  /**
   * Once for any number of changes during a listing, and with a pause between two: a server may
   * answer each with the word that its list has changed.
   */
  async #relist(): Promise<void> {
    if (this.#relisting) return;
    this.#relisting = true;
    while (this.#changed && this.ended === null) {
      this.#changed = false;
      await this.#events.onListChanged().catch(() => undefined);
      await this.#ending.within(RELIST_PAUSE_MS);
    }
    this.#relisting = false;
  }

  #end(why: string, cause?: unknown): void {
    const error = new ServerError(why, { cause });
    if (this.#ending.end(error)) this.#events.onEnd(error);
  }

  /**
   * Something went wrong, and the SDK does not say whether it was the end. A server that cannot
   * be reached is gone; one that does not answer may be busy.
   */
  #probe(): void {
    if (this.#probing || this.ended !== null || !this.#started) return;
    this.#probing = true;
    this.request('ping', {})
      .catch((error: unknown) => {
        if (!isAnswer(error)) this.#end('the connection broke', error);
      })
      .finally(() => {
        this.#probing = false;
      });
  }
}

/**
 * The SDK hands progress on a microtask later, and has forgotten the call by then when its answer
 * came in the same piece: the last step of every call would be lost.
 */
function answerAfterProgress(transport: Transport): void {
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    const deliver = (): void => onmessage?.(message, extra);
    if ('method' in message) deliver();
    else queueMicrotask(deliver);
  };
}

const REFUSALS = new Set<unknown>([404, 'ECONNREFUSED', 'EPIPE', 'ERR_STREAM_DESTROYED']);

/** An error of the protocol, an HTTP status, or an answer that could not be read. */
function isAnswer(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'ZodError' || ('code' in error && typeof error.code === 'number');
}

/** A session that is not known (HTTP 404), a refused connection, a process that reads no more. */
function wasRefused(error: unknown): boolean {
  // By name: the SDK may be there more than once. Its code is the server's to choose.
  if (!(error instanceof Error) || error.name === 'McpError') return false;
  if ('code' in error && REFUSALS.has(error.code)) return true;
  return error.cause !== error && wasRefused(error.cause);
}
