import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { onTestFinished, vi } from 'vitest';

import * as anthropic from './provider-streams/anthropic.ts';
import * as gemini from './provider-streams/gemini.ts';
import * as openai from './provider-streams/openai.ts';
import { EVENT_STREAM } from './scripted-reply.ts';

/** What came, and to which host it was addressed. */
export interface Asked {
  readonly host: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** An answer in place of the usual one; `silence` is none at all. */
export type Answer =
  { status?: number; headers?: Record<string, string>; body: string } | 'silence' | null;

/** A server on loopback that speaks each provider's language. */
export interface AnyProvider {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Settles at the next request. */
  next(): Promise<void>;
}

export const ANSWER = 'Here it is.';
const ORIGINAL_HOST = 'x-original-host';
const realFetch = globalThis.fetch;

const JSON_TYPE = { 'content-type': 'application/json' };
export const json = (body: unknown, status = 200): Answer => ({
  status,
  headers: JSON_TYPE,
  body: JSON.stringify(body),
});

export const modelList = (...ids: unknown[]): Answer => json({ data: ids.map((id) => ({ id })) });

/** Gets what is for any host that is not on loopback, and is stopped when the test ends. */
export async function startProvider(
  answerTo: (asked: Asked) => Answer = () => null,
): Promise<AnyProvider> {
  const asked: Asked[] = [];
  let wake = (): void => undefined;
  const server = createServer((request, response) => {
    void record(request).then((one) => {
      asked.push(one);
      wake();
      send(response, answerTo(one) ?? usualAnswer(one));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}`;
  vi.stubGlobal('fetch', reroute(url));
  onTestFinished(async () => {
    vi.unstubAllGlobals();
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return {
    url,
    asked,
    next: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
  };
}

/**
 * Sends what is for any other host to a server on loopback. Answers are read to their end: the
 * `fetch` of Node lets a signal go only when that aborts.
 */
function reroute(server: string): typeof globalThis.fetch {
  return async (input, init) => {
    const asked = new URL(input instanceof Request ? input.url : input);
    const { host, hostname, pathname, search, href } = asked;
    const headers = new Headers(init?.headers);
    headers.set(ORIGINAL_HOST, host);
    const url = hostname === '127.0.0.1' ? href : `${server}${pathname}${search}`;
    const controller = new AbortController();
    const abort = (): void => {
      controller.abort(init?.signal?.reason);
    };
    if (init?.signal?.aborted === true) abort();
    init?.signal?.addEventListener('abort', abort);
    try {
      const response = await realFetch(url, { ...init, headers, signal: controller.signal });
      return new Response(await response.text(), response);
    } finally {
      init?.signal?.removeEventListener('abort', abort);
      controller.abort();
    }
  };
}

async function record(request: IncomingMessage): Promise<Asked> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += String(part);
  const { [ORIGINAL_HOST]: original, ...headers } = request.headers;
  return {
    host: String(original ?? headers.host),
    path: request.url ?? '',
    headers,
    body: text === '' ? null : (JSON.parse(text) as unknown),
  };
}

function send(response: ServerResponse, answer: Answer): void {
  if (answer === 'silence' || answer === null) return;
  response.writeHead(answer.status ?? 200, answer.headers ?? EVENT_STREAM).end(answer.body);
}

function usualAnswer({ path }: Asked): Answer {
  const wires: [RegExp, string][] = [
    [/\/chat\/completions$/, openai.streamOf(openai.said(ANSWER), openai.finished('stop'))],
    [
      /\/messages$/,
      [anthropic.started(), anthropic.said(0, ANSWER), anthropic.stopped('end_turn')].join(''),
    ],
    [/:streamGenerateContent/, gemini.said(ANSWER) + gemini.finished('STOP')],
  ];
  const body = wires.find(([way]) => way.test(path))?.[1];
  return body === undefined ? json({ error: { message: 'not here' } }, 404) : { body };
}
