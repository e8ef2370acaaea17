import { describe, expect, test } from 'vitest';

import { rewriteFrames, type RewriteFrame } from '../src/event-frames.ts';
import { byteByByte, bytesOf } from './support/scripted-reply.ts';

/** What comes of a stream of these pieces, and which frames were looked at. */
async function sendOn(pieces: readonly Uint8Array[], rewrite: RewriteFrame = (frame) => frame) {
  const seen: unknown[] = [];
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const rewritten = rewriteFrames(body, (frame) => {
    seen.push(frame);
    return rewrite(frame);
  });
  return { text: await new Response(rewritten).text(), seen };
}

describe('the frames of a stream', () => {
  test.each([
    ['one after the other', 'data: {"a": 1}\n\ndata:{"b":"ж 🧭"}\n\n', [{ a: 1 }, { b: 'ж 🧭' }]],
    ['between lines that end in CRLF', 'data: 1\r\n\r\ndata: 2\r\n\r\n', [1, 2]],
    ['between lines that end in CR', 'data: 1\r\rdata: 2\r\r: end', [1, 2]],
    ['behind a mark of the order of bytes', '\uFEFFdata: 1\n\n', [1]],
    ['in lines of their own', 'data: {"a":\ndata: 1}\n\n', [{ a: 1 }]],
    ['among comments and other fields', ': hm\n\nevent: x\nid: 7\ndata: 1\nretry: 1\n\n', [1]],
    ['that are no JSON', 'data: [DONE]\n\ndata: 1\n\n', [1]],
    ['up to one that does not end', 'data: 1\n\ndata: 2\n', [1]],
    ['up to one that ends in half a CRLF', 'data: 1\r\n\r\ndata: 2\r\n\r', [1]],
  ])('%s are each looked at once, however they are cut', async (_, wire, frames) => {
    const whole = await sendOn([bytesOf(wire)]);
    expect(whole.seen).toEqual(frames);
    expect(await sendOn(byteByByte(bytesOf(wire)))).toEqual(whole);
  });

  test('go on as they came where nothing changes', async () => {
    const wire = 'data: {"a" : 1.0}\n\ndata: [\ndata: 2]\n\ndata: [DONE]\n\ndata: \n\n';
    expect((await sendOn([bytesOf(wire)])).text).toBe(wire);
  });

  test('go on as what they were rewritten to', async () => {
    const wire = 'data: {"a":1}\n\ndata: {"a" : 2}\n\n';
    const rewrite: RewriteFrame = (frame) =>
      JSON.stringify(frame) === '{"a":1}' ? { text: 'a\nb' } : frame;
    const { text } = await sendOn([bytesOf(wire)], rewrite);
    expect(text).toBe('data: {"text":"a\\nb"}\n\ndata: {"a" : 2}\n\n');
  });

  test('fail with what is thrown for one of them', async () => {
    const torn = new Error('torn');
    const rewrite = () => {
      throw torn;
    };
    await expect(sendOn([bytesOf('data: 1\n\n')], rewrite)).rejects.toBe(torn);
  });
});
