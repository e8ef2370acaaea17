import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type {
  ProgressCallback,
  RequestOptions,
} from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  ProgressNotificationSchema,
  ResultSchema,
  ToolListChangedNotificationSchema,
  type Request,
} from '@modelcontextprotocol/sdk/types.js';

import { cutText } from './text.ts';
import { ProgressTokens } from './progress-tokens.ts';
import type { Link } from './source.ts';
import { Ending, MAX_TIMER_MS, stoppable, type Stop } from './stoppable.ts';

const MAX_NAME = 100;

/** What a session tells the one who holds it. */
export interface SessionEvents {
  onListChanged(): void;
  onEnd(error: Error): void;
}

/** What a request may be accompanied by. */
export interface RequestExtras {
  stops?: readonly Stop[];
  onProgress?: ProgressCallback;
}

/** A request that cannot have reached the server: sending it again is safe. */
export class NotSentError extends Error {}

/**
 * One connected client, from its first message to its end. A request ends when the session
 * does, whatever becomes of the SDK's promise.
 */
export class Session {
  readonly #link: Link;
  readonly #client: Client;
  readonly #events: SessionEvents;
  readonly #ending = new Ending();
  readonly #progress = new ProgressTokens();
  readonly #restore: () => void;
  #started = false;
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

  /** The first exchange of messages; rejects when there is no server that speaks the protocol. */
  async start(): Promise<void> {
    const link = this.#link;
    if (link.kind === 'client') {
      if (this.#client.transport === undefined) throw new Error('the client is not connected');
      this.#started = true;
      return;
    }
    // The time is the caller's to keep: the SDK's own limit is 60 seconds.
    await stoppable([this.#ending.stop], () =>
      this.#client.connect(link.transport, { timeout: MAX_TIMER_MS }),
    );
    this.#started = true;
  }

  /**
   * Sends a request; a stop that speaks sends `notifications/cancelled` after it. The SDK's limit
   * of 60 seconds is put up to the longest there is: what bounds a call is `callTimeoutMs`.
   */
  async request(
    method: string,
    params: Record<string, unknown>,
    { stops = [], onProgress }: RequestExtras = {},
  ): Promise<Record<string, unknown>> {
    if (this.ended !== null) throw new NotSentError(this.ended.message, { cause: this.ended });
    const work = async (signal: AbortSignal): Promise<Record<string, unknown>> => {
      const request = { method, params };
      const options = { signal, timeout: MAX_TIMER_MS };
      if (onProgress === undefined) return this.#send(request, options);
      if (this.#link.kind === 'client') {
        return this.#send(request, { ...options, onprogress: onProgress });
      }
      return this.#progress.follow(onProgress, (_meta) =>
        this.#send({ method, params: { ...params, _meta } }, options),
      );
    };
    try {
      return await stoppable([this.#ending.stop, ...stops], work);
    } catch (error) {
      // Only now that it waits no more: the end would reject this request as it does the others.
      if (error instanceof NotSentError) {
        this.#end(new Error(error.message, { cause: error.cause }));
      }
      throw error;
    }
  }

  #send(request: Request, options: RequestOptions): Promise<Record<string, unknown>> {
    return this.#client.request(request, ResultSchema, options).catch((error: unknown) => {
      if (!wasRefused(error)) throw error;
      throw new NotSentError('the server is not there any more', { cause: error });
    });
  }

  /** Ends it and lets go of the server; a client that was handed in stays connected. */
  async close(reason: Error): Promise<void> {
    this.#ending.end(reason);
    this.#restore();
    if (this.#link.kind === 'client') return;
    await this.#link.transport.close().catch(() => undefined);
  }

  #listen(): () => void {
    const client = this.#client;
    const { onclose, onerror } = client;
    client.onclose = () => {
      onclose?.();
      this.#end(this.#death());
    };
    client.onerror = (error) => {
      onerror?.(error);
      this.#probe();
    };
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      this.#events.onListChanged();
    });
    if (this.#link.kind === 'transport') {
      client.setNotificationHandler(ProgressNotificationSchema, ({ params }) => {
        this.#progress.hear(params);
      });
    }
    return () => {
      client.removeNotificationHandler('notifications/tools/list_changed');
      if (onclose === undefined) delete client.onclose;
      else client.onclose = onclose;
      if (onerror === undefined) delete client.onerror;
      else client.onerror = onerror;
    };
  }

  #death(): Error {
    const words = this.#link.kind === 'transport' ? this.#link.lastWords() : '';
    return new Error(words === '' ? 'the connection was closed' : words);
  }

  #end(error: Error): void {
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
        if (!isAnswer(error)) this.#end(new Error('the connection broke', { cause: error }));
      })
      .finally(() => {
        this.#probing = false;
      });
  }
}

/** An error of the protocol, an HTTP status, or an answer that could not be read. */
function isAnswer(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'ZodError' || ('code' in error && typeof error.code === 'number');
}

/** HTTP 404 to a session says that the server does not know it; a refused connection, likewise. */
function wasRefused(error: unknown): boolean {
  // By name: the SDK may be there more than once. Its code is the server's to choose.
  if (!(error instanceof Error) || error.name === 'McpError') return false;
  if ('code' in error && (error.code === 404 || error.code === 'ECONNREFUSED')) return true;
  return error.cause !== error && wasRefused(error.cause);
}
