import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';

import { onTestFinished } from 'vitest';

import { EVENT_STREAM } from './scripted-reply.ts';
import type { ExchangeEnd, RecordedRequest, ScriptedReply } from './scripted-reply.ts';

/** A provider on loopback that answers each request by the next reply of its script. */
export interface ModelServer {
  /** Without a slash at its end. */
  readonly url: string;
  /** In the order they came. */
  readonly requests: readonly RecordedRequest[];
  /**
   * The `fetch` of Node, of which no listener is left on a signal. In lockstep it lets the
   * server send a piece only when the one before was read, so that no two are read as one.
   */
  readonly fetch: typeof globalThis.fetch;
  /** The next request, once it has come. */
  readonly arrival: () => Promise<RecordedRequest>;
  /** Resolves when no reply to `fetch` is being read any more. */
  readonly settled: () => Promise<void>;
}

/** Starts a server that is stopped, with all its connections, when the test ends. */
export async function startModelServer(
  script: Iterable<ScriptedReply>,
  options: {
    /** Pieces wait until they are read; every request then goes through `fetch`. */
    lockstep?: boolean;
  } = {},
): Promise<ModelServer> {
  const lockstep = options.lockstep === true ? new Lockstep() : null;
  const provider = new ScriptedServer(script, lockstep);
  const server = createServer((request, response) => {
    provider.answer(request, response);
  });
  onTestFinished(() => stop(server));
  const reading = new Set<Promise<void>>();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${String(address.port)}`,
    requests: provider.requests,
    fetch: async (input, init) => {
      const { signal, release, released } = ownSignal(init?.signal);
      reading.add(released);
      try {
        const response = await globalThis.fetch(input, { ...init, signal });
        return observed(response, (bytes) => lockstep?.count(bytes), release);
      } catch (error) {
        release();
        throw error;
      }
    },
    arrival: () => provider.arrival(),
    settled: async () => {
      await Promise.all(reading);
    },
  };
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

class ScriptedServer {
  readonly requests: RecordedRequest[] = [];
  readonly #script: Iterator<ScriptedReply>;
  readonly #lockstep: Lockstep | null;
  readonly #awaiting: ((request: RecordedRequest) => void)[] = [];

  constructor(script: Iterable<ScriptedReply>, lockstep: Lockstep | null) {
    this.#script = script[Symbol.iterator]();
    this.#lockstep = lockstep;
  }

  arrival(): Promise<RecordedRequest> {
    return new Promise((resolve) => {
      this.#awaiting.push(resolve);
    });
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    this.#answer(request, response).catch((error: unknown) => {
      // The client sees a cut connection; the test, what it did not expect of the script.
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let end: ExchangeEnd = 'left by the client';
    const ended = new Promise<ExchangeEnd>((resolve) => {
      response.once('close', () => {
        resolve(response.writableFinished ? 'answered' : end);
      });
    });
    const received = await recorded(request, ended);
    this.requests.push(received);
    for (const tell of this.#awaiting.splice(0)) tell(received);
    const next = this.#script.next();
    if (next.done === true) throw new Error('the script has no more replies');
    const reply = next.value;
    if (reply.mute === true) return;
    response.socket?.setNoDelay(true);
    response.writeHead(reply.status ?? 200, { ...EVENT_STREAM, ...reply.headers });
    response.flushHeaders();
    this.#lockstep?.restart();
    let sent = 0;
    for (const piece of reply.pieces ?? []) {
      if (response.destroyed) return;
      await written(response, piece);
      sent += piece.length;
      await this.#lockstep?.reached(sent, ended);
    }
    const { ending = 'end' } = reply;
    switch (ending) {
      case 'end':
        response.end();
        return;
      case 'cut':
        end = 'cut by the server';
        response.destroy();
        return;
      case 'silence':
        return;
      default:
        ending satisfies never;
    }
  }
}

/** Resolves when the piece is on its way, by itself, or the client has gone. */
async function written(response: ServerResponse, piece: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => {
    response.write(piece, () => {
      resolve();
    });
  });
  await setImmediate();
}

async function recorded(
  request: IncomingMessage,
  ended: Promise<ExchangeEnd>,
): Promise<RecordedRequest> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown,
    ended,
  };
}

/** Counts what the client has read of a body. */
class Lockstep {
  #read = 0;
  #wake: () => void = () => undefined;

  restart(): void {
    this.#read = 0;
  }

  async reached(bytes: number, gone: Promise<unknown>): Promise<void> {
    while (this.#read < bytes) {
      const more = new Promise<'more'>((resolve) => {
        this.#wake = () => {
          resolve('more');
        };
      });
      const woken = await Promise.race([more, gone]);
      if (woken !== 'more') return;
    }
  }

  count(bytes: number): void {
    this.#read += bytes;
    this.#wake();
  }
}

/** Node keeps its listeners on a signal until it aborts, even when the reply is long over. */
function ownSignal(outer: AbortSignal | null | undefined): {
  signal: AbortSignal;
  release: () => void;
  released: Promise<void>;
} {
  const controller = new AbortController();
  const { signal } = controller;
  const forward = (): void => {
    controller.abort(outer?.reason);
  };
  const released = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => { resolve(); }, { once: true });
  });
  if (outer?.aborted === true) forward();
  else outer?.addEventListener('abort', forward, { once: true });
  const release = (): void => {
    outer?.removeEventListener('abort', forward);
    controller.abort();
  };
  return { signal, release, released };
}

function observed(
  response: Response,
  onBytes: (bytes: number) => void,
  onEnd: () => void,
): Response {
  const observer = new TransformStream<Uint8Array, Uint8Array>({
    transform: (piece, controller) => {
      controller.enqueue(piece);
      onBytes(piece.length);
    },
    flush: onEnd,
  });
  return new Response(response.body?.pipeThrough(observer) ?? null, response);
}
