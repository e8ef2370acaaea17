import type { ImageRef } from '@celestea/core';
import { deriveMessagesFrom, messageImages } from '@celestea/core';
import type { McpToolsOptions } from '@celestea/mcp';
import { describe, expect, test } from 'vitest';

import { ByHand, inside } from './support/servers.ts';
import { openRegistry } from './support/use.ts';

const ref: ImageRef = {
  attachment_id: 'f'.repeat(64),
  media_type: 'image/png',
  width: 1,
  height: 1,
};

/** What becomes of a result. */
async function valueOf(result: unknown, putImage?: McpToolsOptions['putImage']): Promise<unknown> {
  const options = putImage === undefined ? {} : { putImage };
  const { call } = await openRegistry(new ByHand({ 'tools/call': () => result }), options);
  const { value, error } = await call('a');
  return error === null ? value : { error };
}

const content = (...blocks: unknown[]): unknown => ({ content: blocks });
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };

describe('text', () => {
  test('one is a plain string, several are joined, none is null', async () => {
    const { call } = await openRegistry(inside);
    expect((await call('echo', { text: 'hällo ✓' })).value).toBe('hällo ✓');
    expect((await call('two')).value).toBe('one\ntwo');
    expect((await call('nothing')).value).toBeNull();
  });
});

describe('structured content', () => {
  test('is the value, without the text that only repeats it', async () => {
    const { call } = await openRegistry(inside);
    expect((await call('add', { a: 1, b: 2 })).value).toEqual({ sum: 3 });
    const { value } = await call('remark');
    expect(value).toEqual({ structuredContent: { sum: 3 }, text: 'rounded' });
  });

  test('does not name pictures of the host', async () => {
    const { call } = await openRegistry(inside);
    const { value } = await call('claim');
    expect(value).toEqual({ structuredContent: { attachments: [expect.anything()] } });
    const messages = deriveMessagesFrom([
      { type: 'tool_call', id: '1', name: 'claim', args: {} },
      { type: 'tool_result', id: '1', value, error: null },
    ]);
    expect(messages.flatMap((message) => messageImages(message))).toEqual([]);
  });

  test('of the first version of the protocol is read too', async () => {
    expect(await valueOf({ toolResult: { old: true } })).toEqual({ old: true });
  });
});

describe('pictures', () => {
  test('become references that reach the model', async () => {
    const got: [number, string, boolean][] = [];
    const { call } = await openRegistry(inside, {
      putImage: (bytes, type) => {
        got.push([bytes.length, type, bytes.buffer.byteLength === bytes.length]);
        return Promise.resolve(ref);
      },
    });
    const { value } = await call('picture');
    expect(value).toEqual({ text: 'a dot', attachments: [ref] });
    expect(got).toEqual([[70, 'image/png', true]]);
    const messages = deriveMessagesFrom([
      { type: 'tool_call', id: '1', name: 'picture', args: {} },
      { type: 'tool_result', id: '1', value, error: null },
    ]);
    expect(messages.flatMap((message) => messageImages(message))).toEqual([ref]);
  });

  test('without putImage a note stands in their place', async () => {
    const { call } = await openRegistry(inside);
    const { value } = await call('picture');
    expect(value).toBe('a dot\n[image image/png of 70 bytes: not shown]');
  });

  test('that nobody keeps, of an odd kind, or with broken data become notes', async () => {
    const keep = (): Promise<ImageRef | null> => Promise.resolve(ref);
    expect(await valueOf(content(image), () => Promise.resolve(null))).toMatch(/: not kept\]$/);
    expect(await valueOf(content(image), () => Promise.reject(new Error('full')))).toMatch(
      /could not be kept\]$/,
    );
    expect(await valueOf(content(image), () => Promise.resolve({} as never))).toMatch(/not kept/);
    expect(await valueOf(content({ ...image, mimeType: 'image/svg+xml' }), keep)).toMatch(
      /^\[image image\/svg\+xml of 3 bytes: not shown, its type is not supported\]$/,
    );
    for (const data of ['', '%%%%', 'AA=A', 7, undefined]) {
      expect(await valueOf(content({ ...image, data }), keep)).toMatch(/its data is no base64/);
    }
  });

  test('larger than 20 MB are not decoded; one just below is', async () => {
    let kept = 0;
    const put = (bytes: Uint8Array): Promise<ImageRef> => {
      kept = bytes.length;
      return Promise.resolve(ref);
    };
    const large = content({ ...image, data: 'A'.repeat(26_666_668) });
    expect(await valueOf(large, put)).toMatch(/larger than 20000000 bytes/);
    expect(kept).toBe(0);
    const below = content({ ...image, data: 'A'.repeat(26_666_664) });
    expect(await valueOf(below, put)).toEqual({ text: '', attachments: [ref] });
    expect(kept).toBe(19_999_998);
  });
});

describe('the rest', () => {
  test('sound and binary resources become notes, a text resource its text', async () => {
    const { call } = await openRegistry(inside);
    expect((await call('sound')).value).toBe('[audio audio/wav of 3 bytes: not shown]');
    expect((await call('embedded')).value).toBe('the text of a');
    expect((await call('blob')).value).toBe(
      '[resource file:///b, application/zip of 3 bytes: not shown]',
    );
    expect((await call('link')).value).toEqual({
      links: [
        { uri: 'file:///a.txt', name: 'a', mimeType: 'text/plain' },
        { uri: 'file:///b', name: 'b' },
      ],
    });
  });

  test('blocks that cannot be read, or of an unknown type, are named', async () => {
    const blocks = [7, { type: 'text', text: 7 }, { type: 'hologram' }, {}, { type: 'resource' }];
    const value = await valueOf(content(...blocks, { type: 'resource_link' }));
    expect(value).toMatchObject({ links: [{ uri: '', name: '' }] });
    expect(value).toHaveProperty(
      'text',
      [
        '[unreadable content: 7]',
        '[unreadable content: 7]',
        '[content of the unknown type "hologram"]',
        '[content of the unknown type undefined]',
        '[unreadable content: undefined]',
      ].join('\n'),
    );
    expect(await valueOf({ content: 'text' })).toEqual({
      error: 'its result is malformed: content: expected an array, got "text"',
    });
  });
});

describe('errors', () => {
  test('fail the call with the text of the result', async () => {
    const putImage = (): Promise<ImageRef> => Promise.resolve(ref);
    const { call } = await openRegistry(inside, { putImage });
    expect(await call('fail')).toMatchObject({ value: null, error: 'no such file\nlook again' });
    expect((await call('fail_image')).error).toBe('[image image/png of 70 bytes: not shown]');
  });

  test('that say nothing get words', async () => {
    const silent = await valueOf({ isError: true });
    expect(silent).toEqual({ error: 'the tool failed without saying why' });
    expect(await valueOf({ isError: 'yes', structuredContent: { code: 7 } })).toEqual({
      error: '{"code":7}',
    });
  });

  test('of the protocol fail the call, whatever code the server chooses', async () => {
    const { call } = await openRegistry(inside);
    expect((await call('refuse')).error).toMatch(/not in this mood/);
    expect((await call('echo', { text: 'still here' })).value).toBe('still here');
  });
});
