import { isRecord } from '@celestea/core';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';

import { CLOSE_GRACE_MS, MAX_MESSAGE_BYTES } from './limits.ts';
import { after, stoppable } from './stoppable.ts';

/**
 * Streamable HTTP: the SDK's transport over a `fetch` that takes messages of a bounded size and
 * lets go of the stream of a cancelled call.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #retries: { maxRetries: number };

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    // The SDK's own numbers; it reads them at each try, so that closing can end the tries.
    const retries = {
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 1.5,
      maxRetries: 2,
    };
    super(url, { requestInit: { headers }, fetch: boundedFetch(), reconnectionOptions: retries });
    this.#retries = retries;
  }

  /** Takes leave of the server, for a short while, and closes. Never rejects. */
  override async close(): Promise<void> {
    const late = after(CLOSE_GRACE_MS, 'no answer');
    await stoppable([late], () => this.terminateSession()).catch(() => undefined);
    this.#retries.maxRetries = 0;
    await super.close();
  }
}

/**
 * A `fetch` whose answers break off where a message is too large: one event of a stream, or all of
 * any other body. Once a request is cancelled, the stream of its answer is let go.
 */
function boundedFetch(): FetchLike {
  /** What ends the answer to a request, by the request's id. */
  const ends = new Map<unknown, () => void>();
  return async (url, init) => {
    const { id, cancels } = readIds(init?.body);
    const response = await fetch(url, init);
    ends.get(cancels)?.();
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const isStream = /^\s*text\/event-stream\b/i.test(headers.get('content-type') ?? '');
    let size = 0;
    const bounded = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => {
        if (id === undefined) return;
        ends.set(id, () => {
          controller.terminate();
        });
      },
      transform: (chunk, controller) => {
        size = isStream && endsEvent(chunk) ? chunk.length : size + chunk.length;
        if (size > MAX_MESSAGE_BYTES) {
          throw new Error(`a message of more than ${String(MAX_MESSAGE_BYTES)} bytes`);
        }
        controller.enqueue(chunk);
      },
    });
    void body
      .pipeTo(bounded.writable)
      .catch(() => undefined) // whoever reads the other side has it
      .finally(() => ends.delete(id));
    return new Response(bounded.readable, { status, statusText, headers });
  };
}

/** The id of a request, and the id of the request that a notification cancels. */
function readIds(body: unknown): { id?: unknown; cancels?: unknown } {
  const message: unknown = typeof body === 'string' ? JSON.parse(body) : null;
  if (!isRecord(message) || !('method' in message)) return {};
  const { id, method, params } = message;
  const isCancel = method === 'notifications/cancelled' && isRecord(params);
  return isCancel ? { cancels: params['requestId'] } : { id };
}

const latin1 = new TextDecoder('latin1');

/** Whether an empty line, which ends an event, stands in a chunk. */
const endsEvent = (chunk: Uint8Array): boolean => /(\r\n|\r|\n)\1/.test(latin1.decode(chunk));
