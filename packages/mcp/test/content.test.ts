import type { ImageRef } from '@celestea/core';
import { deriveMessagesFrom, messageImages } from '@celestea/core';
import type { McpToolsOptions } from '@celestea/mcp';
import { describe, expect, test } from 'vitest';

import { ByHand } from './support/servers.ts';
import { openRegistry } from './support/use.ts';

const ref: ImageRef = {
  attachment_id: 'f'.repeat(64),
  media_type: 'image/png',
  width: 1,
  height: 1,
};
const keep = (): Promise<ImageRef | null> => Promise.resolve(ref);

/** What becomes of a result. */
async function valueOf(result: unknown, putImage?: McpToolsOptions['putImage']): Promise<unknown> {
  const options = putImage === undefined ? {} : { putImage };
  const { call } = await openRegistry(new ByHand({ 'tools/call': () => result }), options);
  const { value, error } = await call('a');
  return error === null ? value : { error };
}

/** The pictures that a model is shown of a value. */
const shown = (value: unknown): ImageRef[] =>
  deriveMessagesFrom([
    { type: 'tool_call', id: '1', name: 'a', args: {} },
    { type: 'tool_result', id: '1', value, error: null },
  ]).flatMap((message) => messageImages(message));

const text = (said: unknown): unknown => ({ type: 'text', text: said });
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
const link = { type: 'resource_link', uri: 'file:///b', name: 'b' };
const zip = { uri: 'file:///b', blob: 'AAAA', mimeType: 'application/zip' };
const sum = { sum: 3 };

test.each([
  ['text', [text('hällo ✓')], 'hällo ✓'],
  ['several texts', [text('one'), text('two')], 'one\ntwo'],
  ['nothing', [], null],
  ['a picture', [text('a dot'), image], 'a dot\n[image image/png of 3 bytes: not shown]'],
  [
    'sound',
    [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }],
    '[audio audio/wav of 3 bytes: not shown]',
  ],
  ['a text resource', [{ type: 'resource', resource: { text: 'of a' } }], 'of a'],
  [
    'a binary resource',
    [{ type: 'resource', resource: zip }],
    '[resource file:///b, application/zip of 3 bytes: not shown]',
  ],
  [
    'links',
    [{ ...link, mimeType: 'text/plain' }, link],
    {
      links: [
        { uri: 'file:///b', name: 'b', mimeType: 'text/plain' },
        { uri: 'file:///b', name: 'b' },
      ],
    },
  ],
  [
    'what cannot be read',
    [7, text(7), { type: 'hologram' }, {}, { type: 'resource' }, { type: 'resource_link' }],
    {
      text: [
        '[unreadable content: 7]',
        '[unreadable content: 7]',
        '[content of the unknown type "hologram"]',
        '[content of the unknown type undefined]',
        '[unreadable content: undefined]',
      ].join('\n'),
      links: [{ uri: '', name: '' }],
    },
  ],
  ['no list', 'text', { error: 'its result is malformed: content: expected an array, got "text"' }],
])('content that is %s', async (_, content, value) => {
  expect(await valueOf({ content })).toEqual(value);
});

describe('structured content', () => {
  test.each([
    ['is the value', { structuredContent: sum }, sum],
    [
      'is without the text that only repeats it',
      { content: [text('{ "sum": 3 }')], structuredContent: sum },
      sum,
    ],
    [
      'is beside the text that adds to it',
      { content: [text('rounded')], structuredContent: sum },
      { structuredContent: sum, text: 'rounded' },
    ],
    ['of the first version of the protocol is read too', { toolResult: sum }, sum],
  ])('%s', async (_, result, value) => {
    expect(await valueOf(result)).toEqual(value);
  });

  test('does not name pictures of the host', async () => {
    const structuredContent = { attachments: [ref] };
    const value = await valueOf({ structuredContent });
    expect(value).toEqual({ structuredContent });
    expect(shown(value)).toEqual([]);
  });
});

describe('pictures', () => {
  test('become references that reach the model', async () => {
    const got: [number, string, boolean][] = [];
    const value = await valueOf({ content: [text('a dot'), image] }, (bytes, type) => {
      got.push([bytes.length, type, bytes.buffer.byteLength === bytes.length]);
      return Promise.resolve(ref);
    });
    expect(value).toEqual({ text: 'a dot', attachments: [ref] });
    expect(got).toEqual([[3, 'image/png', true]]);
    expect(shown(value)).toEqual([ref]);
  });

  const notes: [string, McpToolsOptions['putImage'], object, RegExp][] = [
    ['nobody wants', () => Promise.resolve(null), {}, /: not kept\]$/],
    ['nobody can keep', () => Promise.reject(new Error('full')), {}, /could not be kept\]$/],
    ['get no reference', () => Promise.resolve({} as never), {}, /not kept/],
    [
      'are of an odd kind',
      keep,
      { mimeType: 'image/svg+xml' },
      /^\[image image\/svg\+xml of 3 bytes: not shown, its type is not supported\]$/,
    ],
    ...['', '%%%%', 'AA=A', 7, undefined].map((data): (typeof notes)[number] => [
      `have ${String(data)} for data`,
      keep,
      { data },
      /its data is no base64/,
    ]),
    ['are larger than 20 MB', keep, { data: 'A'.repeat(26_666_668) }, /larger than 20000000 bytes/],
  ];
  test.each(notes)('that %s become notes', async (_, putImage, more, note) => {
    expect(await valueOf({ content: [{ ...image, ...more }] }, putImage)).toMatch(note);
  });

  test('of nearly 20 MB are taken', async () => {
    const content = [{ ...image, data: 'A'.repeat(26_666_664) }];
    expect(await valueOf({ content }, keep)).toEqual({ text: '', attachments: [ref] });
  });
});

test.each([
  ['its text', { content: [text('no such file'), text('look again')] }, 'no such file\nlook again'],
  ['a note of its picture', { content: [image] }, '[image image/png of 3 bytes: not shown]'],
  ['words of ours when it says nothing', {}, 'the tool failed without saying why'],
  ['its structured content', { structuredContent: { code: 7 } }, '{"code":7}'],
])('an error fails the call with %s', async (_, result, error) => {
  expect(await valueOf({ ...result, isError: 'yes' }, keep)).toEqual({ error });
});

test('an error of the protocol fails the call, whatever code the server chooses', async () => {
  const refusal = Object.assign(new Error('not in this mood'), { code: 404 });
  const answers: unknown[] = [refusal, { content: [text('still here')] }];
  const { call } = await openRegistry(new ByHand({ 'tools/call': () => answers.shift() }));
  expect((await call('a')).error).toMatch(/not in this mood/);
  expect((await call('a')).value).toBe('still here');
});
