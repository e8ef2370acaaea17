import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

import { describe, expect, onTestFinished, test } from 'vitest';

import { directFetch, type Fetch } from '../src/direct-fetch.ts';
import { openAICompatibleLlm } from '../src/index.ts';
import { startModelServer } from './support/model-server.ts';
import { finished, said, streamOf } from './support/provider-streams/openai.ts';
import { read } from './support/reading.ts';
import { scriptedFetch } from './support/scripted-fetch.ts';
import { byteByByte, bytesOf, replyOf, type ScriptedReply } from './support/scripted-reply.ts';

const MIB = 1024 * 1024;
const NOWHERE = 'http://127.0.0.1:9/v1';
const MODEL = { baseURL: NOWHERE, model: 'm' };

/** Pieces of this text, counted; there is an end, so that a reader of them all fails. */
function piecesOf(text: string, most: number) {
  let count = 0;
  const piece = bytesOf(text);
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        controller.enqueue(piece);
        count += 1;
        if (count >= most) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { body, bytes: () => count * piece.length };
}

const answering =
  (body: ReadableStream<Uint8Array>, init: ResponseInit): Fetch =>
  () =>
    Promise.resolve(new Response(body, init));

const post = async (fetch: Fetch): Promise<Response> =>
  directFetch(fetch)(NOWHERE, { method: 'POST', body: '{}' });

const asking = async (reply: ScriptedReply) =>
  read(openAICompatibleLlm({ ...MODEL, fetch: scriptedFetch([reply]).fetch }));

describe('the body of a refusal', () => {
  test('is read up to 1 MiB, and then ends', async () => {
    const { body, bytes } = piecesOf('x'.repeat(MIB / 8), 1000);
    const answer = await post(answering(body, { status: 500 }));
    expect((await answer.arrayBuffer()).byteLength).toBe(MIB);
    expect(bytes()).toBeLessThan(2 * MIB);
  });

  test('C2.4 is bounded after decoding, and the refusal keeps its class', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * MIB, 'x'));
    const server = createServer((_, response) => {
      response.writeHead(503, { 'content-encoding': 'gzip', 'retry-after': '3' }).end(bomb);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    });
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${String(port)}`;
    // the one of Node lets a signal go only when that aborts
    const over = new AbortController();
    const fetch: Fetch = (input, init) => globalThis.fetch(input, { ...init, signal: over.signal });
    const answer = await directFetch(fetch)(url, { method: 'POST', body: '{}' });
    expect((await answer.arrayBuffer()).byteLength).toBe(MIB);
    const { error } = await read(openAICompatibleLlm({ baseURL: url, model: 'm', fetch }));
    over.abort();
    expect(error).toMatchObject({ httpStatus: 503, retryable: true, retryAfterMs: 3000 });
  });
});

describe('a request that fails each time', () => {
  test('C2.4 to a port that nobody may ask is not worth another try', async () => {
    const { error } = await read(openAICompatibleLlm(MODEL));
    const message = 'the provider cannot be asked: bad port';
    expect(error).toMatchObject({ kind: 'generate', retryable: false, message });
  });

  test('C2.4 as headers are too long is not worth another try', async () => {
    const server = await startModelServer([{ headers: { 'x-long': 'x'.repeat(20_000) } }]);
    const { fetch, url } = server;
    const { error } = await read(openAICompatibleLlm({ baseURL: url, model: 'm', fetch }));
    expect(error).toMatchObject({ kind: 'generate', retryable: false });
    expect(String(error)).toContain('the provider cannot be asked: Headers Overflow');
  });
});

describe('an event of a stream', () => {
  const size = 512 * 1024;
  const filler = 'x'.repeat(size);

  test.each(['data: "', ': ', 'data: x\n'])('C2.4 that begins with %j has an end', async (line) => {
    const { body, bytes } = piecesOf(line + filler, 1000);
    const headers = { 'content-type': 'text/event-stream' };
    const fetch = answering(body, { headers });
    const { error } = await read(openAICompatibleLlm({ ...MODEL, fetch }));
    expect(error).toMatchObject({
      kind: 'stream',
      retryable: false,
      message: 'the provider sent an event of more than 16 MiB',
    });
    expect(bytes()).toBeLessThan(18 * MIB);
  });

  test.each(['\n', '\r', '\r\n'])('is one of many, between lines that end in %j', async (end) => {
    const { body } = piecesOf(`: ${filler}${end}${end}`, 40);
    const answer = await post(answering(body, {}));
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(20 * MIB);
  });
});

describe('what is answered in place of a stream', () => {
  const wire = streamOf(said('Hi.'), finished('stop'));

  test.each<[string, ScriptedReply]>([
    ['text/plain', replyOf(wire)],
    ['application/octet-stream', replyOf(`: hello\n\n${wire}`)],
    ['TEXT/EVENT-STREAM;charset=utf-8', { pieces: byteByByte(bytesOf(wire)) }],
    ['', { pieces: byteByByte(bytesOf(wire)) }],
  ])('is a stream all the same, called %j', async (type, reply) => {
    const { events, error } = await asking({ ...reply, headers: { 'content-type': type } });
    expect(error).toBeNull();
    expect(events[0]).toEqual({ kind: 'text', text: 'Hi.' });
  });

  test('C2.4 is read up to its bound', async () => {
    const { body, bytes } = piecesOf('<p>'.repeat(MIB / 8), 1000);
    const fetch = answering(body, { headers: { 'content-type': 'text/html' } });
    const { error } = await read(openAICompatibleLlm({ ...MODEL, fetch }));
    expect(error).toMatchObject({ kind: 'generate', retryable: false });
    expect(bytes()).toBeLessThan(4 * MIB);
  });

  test('is left alone where no stream was asked for', async () => {
    const body = '{"data":[]}';
    const headers = { 'content-type': 'application/json' };
    const listing: Fetch = () => Promise.resolve(new Response(body, { headers }));
    const answer = await directFetch(listing)(NOWHERE);
    expect(await answer.text()).toBe(body);
  });
});
