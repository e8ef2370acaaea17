import {
  bytesThrough,
  doneWith,
  readAndSearch,
  usageOf,
  WORDS,
  type GoodStream,
  type ProviderWire,
  type Refusal,
} from './good-stream.ts';

const event = (data: object): string => `data: ${JSON.stringify(data)}\r\n\r\n`;

const parts = (content: object[], rest: object = {}, beside: object = {}): string =>
  event({
    candidates: [{ content: { role: 'model', parts: content }, index: 0, ...rest }],
    ...beside,
  });

const signed = (signature: string | undefined): object =>
  signature === undefined ? {} : { thoughtSignature: signature };

export const said = (text: string): string => parts([{ text }]);

export const reasoned = (text: string, signature?: string): string =>
  parts([{ text, thought: true, ...signed(signature) }]);

export const called = (
  name: string,
  args: object | null,
  rest: { id?: string; signature?: string } = {},
): string => {
  const { id, signature } = rest;
  const functionCall = {
    ...(id === undefined ? {} : { id }),
    name,
    ...(args === null ? {} : { args }),
  };
  return parts([{ functionCall, ...signed(signature) }]);
};

const USAGE = {
  promptTokenCount: 120,
  cachedContentTokenCount: 64,
  candidatesTokenCount: 33,
  thoughtsTokenCount: 17,
  totalTokenCount: 170,
};

export const finished = (finishReason: string, usageMetadata: object = USAGE): string =>
  parts([{ text: '' }], { finishReason }, { usageMetadata, modelVersion: 'm', responseId: 'r1' });

const full = [
  parts([{ text: '先看文件', thought: true }], {}, { usageMetadata: { promptTokenCount: 120 } }),
  reasoned('，再回答 🧭'),
  said('Ich lese cafe\u0301 '),
  said('und 漢字 👩‍🚀.'),
  called('read_file', { path: 'docs/日本語.md' }, { id: 'fc-a', signature: 'c2lnbmVk+/8=' }),
  called('search', { query: 'naïve 🍜\n' }, { id: 'fc-b' }),
  finished('STOP'),
].join('');

const careless = [
  called('list_dir', null, { signature: 'b25l' }),
  called('list_dir', {}),
  finished('STOP', { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 }),
].join('');

const plain = [
  said('Grüße, '),
  parts([{ text: '世界 🌍!' }], { finishReason: 'STOP' }),
].join('').replaceAll('\r\n', '\n');

const metaOf = (thoughtSignature: string): object => ({
  provider: 'google.generative-ai',
  metadata: { google: { thoughtSignature } },
});

const END = '\r\n\r\n';

const GOOD: readonly GoodStream[] = [
  {
    title: 'thoughts, words and two calls, the first signed',
    wire: full,
    overAt: bytesThrough(full, '"finishReason":"STOP"', END),
    events: [
      { kind: 'thinking', text: '先看文件，再回答 🧭' },
      { kind: 'text', text: WORDS },
      usageOf(120, 50, 64, 17),
      readAndSearch('fc-a', 'fc-b', metaOf('c2lnbmVk+/8=')),
    ],
  },
  {
    title: 'calls without an id and without arguments',
    wire: careless,
    overAt: bytesThrough(careless, '"finishReason":"STOP"', END),
    events: [
      usageOf(5, 2),
      doneWith(
        '',
        [
          { id: 'made-1', name: 'list_dir', args: {}, meta: metaOf('b25l') },
          { id: 'made-2', name: 'list_dir', args: {} },
        ],
        'tool_calls',
      ),
    ],
  },
  {
    title: 'words alone, without CRLF and without usage',
    wire: plain,
    overAt: bytesThrough(plain, '"finishReason":"STOP"'),
    events: [
      { kind: 'text', text: 'Grüße, 世界 🌍!' },
      doneWith('Grüße, 世界 🌍!', [], 'stop'),
    ],
  },
];

/** A reply up to a call, which is whole. */
const BEGUN: string = [
  reasoned('hm'),
  said('Let me '),
  called('search', { query: 'letter' }),
].join('');

/** The next event, broken off in the arguments. */
const BROKEN: string = called('search', { query: 'letters' }).replace(/rs"[^]*$/, '');

const CODES: Readonly<Record<string, number>> = {
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAUTHENTICATED: 401,
  UNAVAILABLE: 503,
};

/** What the API answers a request with that it refuses. */
const refusal = ({ message, type }: Refusal): object => ({
  error: { code: CODES[type] ?? 400, message, status: type },
});

/** The same inside a stream. */
const refusalEvent = (what: Refusal): string => event(refusal(what));

export const GEMINI: ProviderWire = {
  good: GOOD,
  begun: BEGUN,
  broken: BROKEN,
  signed: [],
  refusal,
  refusalEvent,
  names: {
    rateLimit: 'RESOURCE_EXHAUSTED',
    internal: 'INTERNAL',
    key: 'UNAUTHENTICATED',
    overloaded: 'UNAVAILABLE',
  },
};
