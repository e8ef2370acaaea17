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

import { isRecord } from '../shape.ts';
import { CLOSE_GRACE_MS } from './limits.ts';
import { after, stoppable } from './stoppable.ts';
import { isEventStream, watchBody } from './watched-body.ts';

/** A request whose answer is still to come. */
interface Exchange {
  /** The answer comes as a stream of events, which goes on after the request was sent. */
  streams: boolean;
  /** The SDK can take the stream up again where it broke. */
  resumable: boolean;
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
    const exchange: Exchange = { streams: false, resumable: false, cancel: () => undefined };
    this.#exchanges.set(id, exchange);
    try {
      await this.#inner.send(message, {
        onresumptiontoken: (token) => {
          exchange.resumable = true;
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
    if (exchange === undefined || exchange.resumable) return;
    const message = 'the server ended its answer without a result';
    this.#deliver({ jsonrpc: '2.0', id, error: { code: ErrorCode.ConnectionClosed, message } });
  }

  readonly #fetch: FetchLike = async (url, init) => {
    const response = await fetch(url, init);
    const id = requestId(init?.body);
    const exchange = id === null ? undefined : this.#exchanges.get(id);
    if (response.body === null) return response;
    const streams = isEventStream(response);
    const watched = watchBody(response.body, streams, () => {
      // The last events are on their way through the SDK's parser, which takes microtasks alone.
      if (id !== null && streams) setImmediate(() => { this.#answerIsOver(id); });
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
