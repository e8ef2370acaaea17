import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { onTestFinished, vi } from 'vitest';

/** What a request brought. */
export interface Asked {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  };
}

/** Answers one request. */
export type Answer = (asked: Asked, response: ServerResponse) => void;

/** A server with an OpenAI-compatible API on the loopback, until the test is over. */
export interface ModelServer {
  readonly url: string;
  readonly asked: readonly Asked[];
}

/** Gives the answers one after the other; whoever asks for more is told that there are none. */
export async function modelServer(...answers: readonly Answer[]): Promise<ModelServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const { url = '', headers } = request;
      const body = JSON.parse(text === '' ? '{}' : text) as Asked['body'];
      const one: Asked = { path: url, authorization: headers.authorization, body };
      asked.push(one);
      const answer = answers[asked.length - 1] ?? refuse(500, 'nothing was to be asked');
      answer(one, response);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  vi.stubGlobal('fetch', tidyFetch(globalThis.fetch));
  onTestFinished(async () => {
    vi.unstubAllGlobals();
    const closed = new Promise((done) => server.close(done));
    server.closeAllConnections();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}/v1`, asked };
}

/** Node leaves its listeners on a signal until it aborts: it gets one that does, in the end. */
function tidyFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const own = new AbortController();
    const outer = init?.signal;
    const abort = (): void => {
      own.abort(outer?.reason);
    };
    outer?.addEventListener('abort', abort);
    if (outer?.aborted === true) abort();
    try {
      const response = await fetch(input, { ...init, signal: own.signal });
      return new Response(await response.text(), response);
    } finally {
      outer?.removeEventListener('abort', abort);
      own.abort();
    }
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += String(piece);
  return text;
}

/** Words, in two pieces. */
export function words(text: string): Answer {
  const half = Math.ceil(text.length / 2);
  const pieces = [text.slice(0, half), text.slice(half)];
  return stream('stop', ...pieces.map((content) => ({ content })));
}

/** One call of a tool. */
export function call(id: string, name: string, args: object): Answer {
  const fn = { name, arguments: JSON.stringify(args) };
  const tool_calls = [{ index: 0, id, type: 'function', function: fn }];
  return stream('tool_calls', { tool_calls });
}

/** An error in the shape that these servers have. */
export function refuse(
  status: number,
  message: string | ((asked: Asked) => string),
  headers: Record<string, string> = {},
): Answer {
  return (asked, response) => {
    const said = typeof message === 'string' ? message : message(asked);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { message: said } }));
  };
}

/** The names of the models that the server has. */
export function models(...names: readonly string[]): Answer {
  return (_, response) => {
    response.end(JSON.stringify({ data: names.map((id) => ({ id })) }));
  };
}

/** Never answers; tells that it was asked. */
export function silence(onAsked: () => void = () => undefined): Answer {
  return onAsked;
}

function stream(reason: string, ...deltas: readonly object[]): Answer {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };
    const chunks = [
      ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
      { choices: [{ index: 0, delta: {}, finish_reason: reason }], usage },
    ];
    for (const chunk of chunks) {
      response.write(`data: ${JSON.stringify({ id: 'c', ...chunk })}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  };
}
