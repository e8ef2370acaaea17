import { describe, expect, test } from 'vitest';

import { startModelServer } from './support/model-server.ts';
import { byteByByte, bytesOf, cutAt, type ScriptedReply } from './support/scripted-reply.ts';

const POST = { method: 'POST', body: '{"hello":"世界"}' };

/** The pieces of a body as they come, and what it broke with. */
async function piecesOf(response: Response): Promise<{ pieces: Uint8Array[]; broke: boolean }> {
  const pieces: Uint8Array[] = [];
  const body: ReadableStream<Uint8Array> | null = response.body;
  try {
    for await (const piece of body ?? []) pieces.push(new Uint8Array(piece));
    return { pieces, broke: false };
  } catch {
    return { pieces, broke: true };
  }
}

describe('the model server of these tests', () => {
  test('sends each piece by itself in lockstep, and tells what it was asked', async () => {
    const bytes = bytesOf('data: {"text":"世界 👩‍🚀"}\n\n');
    const script = [cutAt(bytes, 17, 18, 30), byteByByte(bytes)];
    const replies = script.map((pieces): ScriptedReply => ({ pieces }));
    const server = await startModelServer(replies, { lockstep: true });
    for (const pieces of script) {
      const response = await server.fetch(`${server.url}/v1/chat?a=b`, POST);
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      expect(await piecesOf(response)).toEqual({
        pieces: pieces.map((piece) => new Uint8Array(piece)),
        broke: false,
      });
    }
    await server.settled();
    const [asked] = server.requests;
    expect(asked).toMatchObject({ method: 'POST', path: '/v1/chat?a=b', body: { hello: '世界' } });
    expect(await asked?.ended).toBe('answered');
  });

  test('sends statuses and headers, and can cut the connection', async () => {
    const pieces = [bytesOf('abc')];
    const headers = { 'Retry-After': '3', 'content-type': 'text/plain' };
    const script: ScriptedReply[] = [
      { status: 429, headers },
      { pieces, ending: 'cut' },
    ];
    const server = await startModelServer(script);
    const refused = await server.fetch(server.url, POST);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3']);
    expect(refused.headers.get('content-type')).toBe('text/plain');
    await refused.text();
    const controller = new AbortController();
    const { signal } = controller;
    const cut = await server.fetch(server.url, { ...POST, signal });
    expect(await piecesOf(cut)).toEqual({ pieces, broke: true });
    controller.abort();
    expect(await server.requests[1]?.ended).toBe('cut by the server');
    await server.settled();
  });

  test('cuts whoever asks more often than the script has replies', async () => {
    const server = await startModelServer([]);
    await expect(server.fetch(server.url, POST)).rejects.toThrow('fetch failed');
  });
});
