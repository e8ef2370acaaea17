import { EVENT_STREAM } from './scripted-reply.ts';
import type { ExchangeEnd, RecordedRequest, ScriptedReply } from './scripted-reply.ts';

/** A provider without a network: a `fetch` whose bodies yield exactly the pieces of the script. */
export interface ScriptedFetch {
  readonly fetch: typeof globalThis.fetch;
  readonly requests: readonly RecordedRequest[];
}

/** What a connection that breaks throws in a `fetch` of Node. */
const cutError = (): TypeError =>
  new TypeError('terminated', {
    cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
  });

export function scriptedFetch(script: Iterable<ScriptedReply>): ScriptedFetch {
  const replies = script[Symbol.iterator]();
  const requests: RecordedRequest[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const next = replies.next();
    if (next.done === true) throw new Error('the script has no more replies');
    const exchange = new Exchange(next.value, init?.signal ?? null);
    requests.push(recorded(input, init, exchange.ended));
    return exchange.response();
  };
  return { fetch, requests };
}

class Exchange {
  readonly ended: Promise<ExchangeEnd>;
  readonly #reply: ScriptedReply;
  readonly #signal: AbortSignal | null;
  #end: (end: ExchangeEnd) => void = () => undefined;

  constructor(reply: ScriptedReply, signal: AbortSignal | null) {
    this.#reply = reply;
    this.#signal = signal;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async response(): Promise<Response> {
    const { status = 200, headers, mute } = this.#reply;
    if (this.#signal?.aborted === true) throw abortReason(this.#signal);
    if (mute === true) {
      await this.#left();
      throw abortReason(this.#signal);
    }
    return new Response(this.#body(), { status, headers: { ...EVENT_STREAM, ...headers } });
  }

  #body(): ReadableStream<Uint8Array> {
    const pieces = (this.#reply.pieces ?? []).values();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          if (this.#signal?.aborted === true) {
            this.#end('left by the client');
            controller.error(abortReason(this.#signal));
            return;
          }
          const piece = pieces.next();
          if (piece.done === true) await this.#finish(controller);
          else controller.enqueue(piece.value);
        },
        cancel: () => {
          this.#end('left by the client');
        },
      },
      { highWaterMark: 0 },
    );
  }

  async #finish(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const ending = this.#reply.ending ?? 'end';
    switch (ending) {
      case 'end':
        this.#end('answered');
        controller.close();
        return;
      case 'cut':
        this.#end('cut by the server');
        controller.error(cutError());
        return;
      case 'silence':
        await this.#left();
        if (this.#signal?.aborted === true) controller.error(abortReason(this.#signal));
        return;
      default:
        ending satisfies never;
    }
  }

  /** Resolves when the client gives up, by its signal or by letting the body go. */
  async #left(): Promise<void> {
    const aborted = (): void => {
      this.#end('left by the client');
    };
    this.#signal?.addEventListener('abort', aborted, { once: true });
    await this.ended;
    this.#signal?.removeEventListener('abort', aborted);
  }
}

const abortReason = (signal: AbortSignal | null): unknown => signal?.reason;

function recorded(
  input: Parameters<typeof globalThis.fetch>[0],
  init: RequestInit | undefined,
  ended: Promise<ExchangeEnd>,
): RecordedRequest {
  const { pathname, search } = new URL(input instanceof Request ? input.url : input);
  const body = init?.body;
  if (typeof body !== 'string') throw new TypeError('the body is no text');
  return {
    method: init?.method ?? 'GET',
    path: `${pathname}${search}`,
    headers: Object.fromEntries(new Headers(init?.headers)),
    body: JSON.parse(body) as unknown,
    ended,
  };
}
