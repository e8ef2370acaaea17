import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, test } from 'vitest';

import { atEnd } from './support/at-end.ts';
import { hello, HttpServer } from './support/servers.ts';
import { failure, nextChange, open, openRegistry, progressEvents, until } from './support/use.ts';

describe('a real server over HTTP', () => {
  test('is listed and called, with the headers; closing ends its session', async () => {
    const server = await HttpServer.start();
    const { mcp, call } = await openRegistry(server.source);
    expect(mcp.serverName).toBe('test server');
    expect((await call('echo', { text: 'hi' })).value).toBe('hi');
    expect((await call('add', { a: 1, b: 2 })).value).toEqual({ sum: 3 });
    expect((await call('fail')).error).toBe('no such file\nlook again');
    const line = server.line();
    await mcp.close();
    expect(await line).toBe('session closed');
    const text = await failure(open({ url: `${server.source.url}?key=s3cret` }));
    expect(text).toMatch(/^MCP server http:\/\/127\.0\.0\.1:\d+\/mcp: could not be started: /);
    expect(text).toContain('no entry');
    expect(text).not.toContain('s3cret');
  });

  test('progress, cancel and list changes come through', async () => {
    const server = await HttpServer.start();
    const { onProgress, next } = progressEvents();
    const { mcp, call } = await openRegistry(server.source, { onProgress });
    const changed = nextChange(mcp);
    expect((await call('change', { add: ['new'], remove: ['two'] })).value).toBe('changed');
    expect(await changed).toMatchObject({ added: ['new'], removed: ['two'] });
    const controller = new AbortController();
    const waiting = call('wait', {}, controller.signal);
    expect(await next()).toMatchObject({ tool: 'wait', progress: 0 });
    controller.abort(new Error('enough'));
    expect((await waiting).error).toBe('enough');
    expect((await call('log', { until: 'cancelled' })).value).toBe('cancelled: enough');
  });

  test('that dies fails the calls in flight; once it is back the next call finds it', async () => {
    const server = await HttpServer.start();
    const { onProgress, next } = progressEvents();
    const { call } = await openRegistry(server.source, { onProgress });
    const waiting = call('wait');
    await next();
    await server.end();
    expect((await waiting).error).toMatch(/connection broke|not there any more/);
    const back = await HttpServer.start(server.port);
    expect((await call('echo', { text: 'back' })).value).toBe('back');
    await back.end();
    expect((await call('echo')).error).toMatch(/not there any more|connection broke/);
    expect((await call('echo')).error).toMatch(/^MCP server test server: /);
  });

  test('that forgot the session gets a new one, and the call again', async () => {
    const server = await HttpServer.start();
    const { call } = await openRegistry(server.source);
    await server.end();
    await HttpServer.start(server.port);
    expect((await call('echo', { text: 'again' })).value).toBe('again');
  });

  test('that is not there fails the start', async () => {
    const server = await HttpServer.start();
    await server.end();
    expect(await failure(open(server.source))).toMatch(/could not be started: .*ECONNREFUSED/);
  });
});

type Answer = (response: ServerResponse, id: number) => void;
type Resume = (response: ServerResponse, token: string) => void;

/** A server by hand, whose answer to a call is up to the test. */
async function serverThat(
  answerCall: Answer,
  resume?: Resume,
): Promise<{ url: string; cancelled: () => number }> {
  let cancelled = 0;
  const http = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const token = request.headers['last-event-id'];
      if (resume !== undefined && typeof token === 'string') {
        resume(response, token);
        return;
      }
      if (request.method !== 'POST') {
        response.writeHead(405).end();
        return;
      }
      const { id, method } = JSON.parse(body) as { id?: number; method: string };
      if (method === 'notifications/cancelled') cancelled += 1;
      if (id === undefined) response.writeHead(202).end();
      else if (method === 'tools/call') answerCall(response, id);
      else json(response, id, method === 'initialize' ? hello : { tools: [{ name: 'a' }] });
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  atEnd(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  const { port } = http.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}/`, cancelled: () => cancelled };
}

function json(response: ServerResponse, id: number, result: unknown): void {
  typed(response, 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

const typed = (response: ServerResponse, type: string): ServerResponse =>
  response.writeHead(200, { 'content-type': type });

const events = (response: ServerResponse): ServerResponse => typed(response, 'text/event-stream');

const event = (id: number): string => {
  const result = { content: [{ type: 'text', text: 'fine' }] };
  return `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
};

const MEBIBYTE = 'x'.repeat(1024 * 1024);

describe('a hostile server over HTTP', () => {
  const ways: [string, Answer, RegExp][] = [
    ['answers no JSON', (response) => typed(response, 'application/json').end('{"id":'), /JSON/],
    ['answers a page', (response) => typed(response, 'text/html').end('<p>'), /Unexpected content/],
    ['fails', (response) => response.writeHead(500).end('down'), /down/],
    ['hangs up', (response) => response.destroy(), /fetch failed/],
    [
      'sends too much JSON',
      (response) => typed(response, 'application/json').end(MEBIBYTE.repeat(33)),
      /more than 33554432 bytes/,
    ],
  ];
  test.each(ways)('that %s fails the call', async (_, answer, text) => {
    const { url } = await serverThat(answer);
    const { call } = await openRegistry({ url });
    expect((await call('a')).error).toMatch(text);
  });

  const inVain: [string, Answer][] = [
    ['accepts it and says no more', (response) => response.writeHead(202).end()],
    ['answers another request', (response, id) => { json(response, id + 100, {}); }],
    ['ends its stream early', (response) => events(response).end(': nothing\n\n')],
    ['breaks off', (response) => events(response).write(': wait\n\n', () => response.destroy())],
    [
      'breaks off, and does not let it be taken up again',
      (response) => events(response).write('retry: 1\nid: 1\ndata:\n\n', () => response.destroy()),
    ],
  ];
  test.each(inVain)('that %s keeps the call for its time, and no longer', async (_, answer) => {
    const { url } = await serverThat(answer);
    const { call } = await openRegistry({ url }, { callTimeoutMs: 50 });
    expect((await call('a')).error).toBe('MCP server by hand: no answer within 50 ms');
    expect((await call('a')).error).toMatch(/no answer within 50 ms/);
  });

  test('many small events are no large one', async () => {
    const { url } = await serverThat((response, id) => {
      events(response);
      for (let count = 0; count < 40; count += 1) response.write(`: ${MEBIBYTE}\n\n`);
      response.end(event(id));
    });
    const { call } = await openRegistry({ url });
    expect((await call('a')).value).toBe('fine');
  });

  test('an event without end is broken off', async () => {
    let closed = false;
    const { url } = await serverThat((response) => {
      const more = (): void => {
        while (!closed && response.write(MEBIBYTE));
      };
      events(response).on('close', () => (closed = true));
      response.on('drain', more);
      more();
    });
    const { call } = await openRegistry({ url }, { callTimeoutMs: 0 });
    const controller = new AbortController();
    const waiting = call('a', {}, controller.signal);
    await until(() => closed);
    controller.abort(new Error('enough'));
    expect((await waiting).error).toBe('enough');
  });

  test('the stream of a cancelled call is let go', async () => {
    let closed = false;
    let accepted = false;
    const { url, cancelled } = await serverThat((response) => {
      events(response).write(': wait\n\n');
      response.on('close', () => (closed = true));
      accepted = true;
    });
    const { call } = await openRegistry({ url });
    const controller = new AbortController();
    const waiting = call('a', {}, controller.signal);
    await until(() => accepted);
    controller.abort();
    expect((await waiting).error).toMatch(/abort/);
    await until(() => closed);
    expect(cancelled()).toBe(1);
  });
});

test('a server without a standing stream that forgot the session gets the call again', async () => {
  let calls = 0;
  let answered = 0;
  const { url } = await serverThat((response, id) => {
    calls += 1;
    if (calls === 1) {
      response.writeHead(404).end('no such session');
      return;
    }
    answered += 1;
    json(response, id, { content: [{ type: 'text', text: 'fine' }] });
  });
  const { call } = await openRegistry({ url });
  expect((await call('a')).value).toBe('fine');
  expect([calls, answered]).toEqual([2, 1]);
});

test('other calls in flight fail when the session was forgotten: they may have run', async () => {
  let waiting = false;
  let calls = 0;
  const { url } = await serverThat((response, id) => {
    calls += 1;
    if (calls === 1) {
      events(response).write(': wait\n\n');
      waiting = true;
    } else if (calls === 2) response.writeHead(404).end();
    else json(response, id, { content: [{ type: 'text', text: 'fine' }] });
  });
  const { call } = await openRegistry({ url });
  const first = call('a');
  await until(() => waiting);
  expect((await call('a')).value).toBe('fine');
  expect((await first).error).toMatch(/not there any more/);
  expect(calls).toBe(3);
});

test('an answer that breaks is read to its end, over several breaks and a failure between', async () => {
  let asked = 0;
  const tokens: string[] = [];
  const { url } = await serverThat(
    (response, id) => {
      asked = id;
      events(response).write('retry: 1\nid: 1\ndata:\n\n', () => response.destroy());
    },
    (response, token) => {
      tokens.push(token);
      if (tokens.length === 1 || tokens.length === 3) response.writeHead(503).end();
      else if (tokens.length === 2) events(response).end('id: 2\ndata:\n\n');
      else events(response).end(event(asked));
    },
  );
  const { call } = await openRegistry({ url });
  expect((await call('a')).value).toBe('fine');
  expect(tokens).toEqual(['1', '1', '2', '2']);
});
