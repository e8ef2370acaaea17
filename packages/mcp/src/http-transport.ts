import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type {
  FetchLike,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';

import { isRecord } from '@celestea/core';
import { CLOSE_GRACE_MS } from './limits.ts';
import { after, stoppable } from './stoppable.ts';
import { isEventStream, watchBody } from './watched-body.ts';

/** A request whose answer is still to come. */
interface Exchange {
  /** The answer comes as a stream of events, which goes on after the request was sent. */
  streams: boolean;
  /** With which the SDK can take the stream up again where it breaks; `null` while it cannot. */
  token: string | null;
  /** The stream has ended; whether it is taken up again is open. */
  broken: boolean;
  /** How often in a row taking it up again has failed. */
  failures: number;
  /** Lets go of the stream. */
  cancel(): void;
}

/**
 * Streamable HTTP. Wraps the SDK's transport, which leaves a request without an answer for ever
 * when the server accepts it and then breaks off, ends its answer early or answers something
 * else; which takes answers of any size; and which keeps the stream of a cancelled call open.
 */
export class HttpTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #inner: StreamableHTTPClientTransport;
  readonly #exchanges = new Map<RequestId, Exchange>();
  /** The SDK's own defaults; it reads them at each try, so that closing can end the tries. */
  readonly #retries = {
    initialReconnectionDelay: 1_000,
    maxReconnectionDelay: 30_000,
    reconnectionDelayGrowFactor: 1.5,
    maxRetries: 2,
  };

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    this.#inner = new StreamableHTTPClientTransport(url, {
      requestInit: { headers },
      fetch: this.#fetch,
      reconnectionOptions: this.#retries,
    });
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  async start(): Promise<void> {
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message) => {
      this.#deliver(message);
    };
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!('method' in message && 'id' in message)) {
      await this.#inner.send(message);
      const cancelled = cancelledId(message);
      if (cancelled === null) return;
      this.#exchanges.get(cancelled)?.cancel();
      this.#exchanges.delete(cancelled);
      return;
    }
    const { id } = message;
    const exchange = newExchange();
    this.#exchanges.set(id, exchange);
    try {
      await this.#inner.send(message, {
        onresumptiontoken: (token) => {
          exchange.token = headerText(token);
          options?.onresumptiontoken?.(token);
        },
      });
    } catch (error) {
      this.#exchanges.delete(id);
      throw error;
    }
    if (!exchange.streams) this.#answerIsOver(id);
  }

  /** Takes leave of the server, for a short while, and closes. Never rejects. */
  async close(): Promise<void> {
    const leave = after(CLOSE_GRACE_MS, () => new Error('no answer'));
    await stoppable([leave], () => this.#inner.terminateSession()).catch(() => undefined);
    this.#retries.maxRetries = 0;
    await this.#inner.close().catch(() => undefined);
    this.#exchanges.clear();
  }

  #deliver(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) this.#exchanges.delete(message.id);
    this.onmessage?.(message);
  }

  /** All there was of an answer has been delivered: whoever still waits, waits in vain. */
  #answerIsOver(id: RequestId): void {
    const exchange = this.#exchanges.get(id);
    if (exchange?.token !== null) return;
    this.#endInVain(id);
  }

  #endInVain(id: RequestId): void {
    const message = 'the server ended its answer without a result';
    this.#deliver({ jsonrpc: '2.0', id, error: { code: ErrorCode.ConnectionClosed, message } });
  }

  /** The request whose stream the SDK is about to take up again; `null` when it does not. */
  #resumedBy(init: RequestInit | undefined): RequestId | null {
    const token = new Headers(init?.headers).get(RESUME_HEADER);
    if (token === null) return null;
    for (const [id, exchange] of this.#exchanges) {
      if (exchange.broken && exchange.token === token) return id;
    }
    return null;
  }

  /** The SDK tries again unless there is no stream to be had (405), and at most so many times. */
  #onResumption(id: RequestId, response: Response | null): void {
    const exchange = this.#exchanges.get(id);
    if (exchange === undefined) return;
    if (response?.ok === true && response.body !== null) {
      // The SDK forgets the old token: without a new one, this stream is the last.
      exchange.token = null;
      exchange.broken = false;
      exchange.failures = 0;
      return;
    }
    exchange.failures += 1;
    const isFinal = response !== null && (response.ok || isClientError(response.status));
    if (isFinal || exchange.failures >= this.#retries.maxRetries) this.#endInVain(id);
  }

  readonly #fetch: FetchLike = async (url, init) => {
    const resumed = this.#resumedBy(init);
    const response = await fetch(url, init).catch((error: unknown) => {
      if (resumed !== null) this.#onResumption(resumed, null);
      throw error;
    });
    const id = resumed ?? requestId(init?.body);
    const exchange = id === null ? undefined : this.#exchanges.get(id);
    if (resumed !== null) this.#onResumption(resumed, response);
    if (response.body === null) return response;
    const isStream = isEventStream(response);
    // The SDK reads whatever resumes a stream as events.
    const streams = isStream || resumed !== null;
    const watched = watchBody(response.body, isStream, () => {
      if (id === null || !streams) return;
      if (exchange !== undefined) exchange.broken = true;
      // The last events are on their way through the SDK's parser, which takes microtasks alone.
      setImmediate(() => { this.#answerIsOver(id); });
    });
    if (exchange !== undefined) {
      exchange.streams = streams && response.ok;
      exchange.cancel = watched.cancel;
    } else if (id !== null) {
      watched.cancel(); // cancelled in the meantime
    }
    const { status, statusText, headers } = response;
    return new Response(watched.body, { status, statusText, headers });
  };
}

const RESUME_HEADER = 'last-event-id';

const newExchange = (): Exchange => ({
  streams: false,
  token: null,
  broken: false,
  failures: 0,
  cancel: () => undefined,
});

/** A token as it comes out of a header; `null` when it cannot be sent in one. */
function headerText(token: string): string | null {
  try {
    return new Headers([[RESUME_HEADER, token]]).get(RESUME_HEADER);
  } catch {
    return null;
  }
}

const isClientError = (status: number): boolean => status >= 400 && status < 500;

function requestId(body: unknown): RequestId | null {
  if (typeof body !== 'string') return null;
  const message: unknown = JSON.parse(body);
  if (!isRecord(message) || !('method' in message)) return null;
  return readId(message['id']);
}

function cancelledId(message: JSONRPCMessage): RequestId | null {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return null;
  return readId(message.params?.['requestId']);
}

const readId = (id: unknown): RequestId | null =>
  typeof id === 'string' || typeof id === 'number' ? id : null;
