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

const event = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

const ping = event('ping', {});

export const started = (usage: object = { input_tokens: 12, output_tokens: 1 }): string =>
  event('message_start', {
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage },
  });

/** A block of content without its end. */
const openBlock = (index: number, content_block: object, ...deltas: object[]): string =>
  [
    event('content_block_start', { index, content_block }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
  ].join('');

const blockEnd = (index: number): string => event('content_block_stop', { index });

const block = (index: number, content_block: object, ...deltas: object[]): string =>
  openBlock(index, content_block, ...deltas) + blockEnd(index);

export const reasoned = (index: number, signature: string, ...texts: string[]): string =>
  block(
    index,
    { type: 'thinking', thinking: '', signature: '' },
    ...texts.map((thinking) => ({ type: 'thinking_delta', thinking })),
    { type: 'signature_delta', signature },
  );

export const redacted = (index: number, data: string): string =>
  block(index, { type: 'redacted_thinking', data });

export const said = (index: number, ...texts: string[]): string =>
  block(
    index,
    { type: 'text', text: '' },
    ...texts.map((text) => ({ type: 'text_delta', text })),
  );

/** A call whose arguments are not over. */
export const calling = (index: number, id: string, name: string, ...json: string[]): string =>
  openBlock(
    index,
    { type: 'tool_use', id, name, input: {} },
    ...json.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  );

export const called = (index: number, id: string, name: string, ...json: string[]): string =>
  calling(index, id, name, ...json) + blockEnd(index);

const delta = (stop_reason: string, usage: object): string =>
  event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage });

const STOP = event('message_stop', {});

export const stopped = (reason: string, usage: object = { output_tokens: 8 }): string =>
  delta(reason, usage) + STOP;

const full = [
  started({
    input_tokens: 21,
    cache_creation_input_tokens: 30,
    cache_read_input_tokens: 100,
    output_tokens: 1,
  }),
  ping,
  reasoned(0, 'c2lnbmVk+/8=', '先想 🤔'),
  redacted(1, 'RW5jcnlwdGVk'),
  said(2, 'Ich lese cafe\u0301 ', 'und 漢字 👩‍🚀.'),
  ping,
  called(3, 'toolu_a', 'read_file', '', '{"path": "docs/日', '本語.md"}'),
  called(4, 'toolu_b', 'search', '{"query":"naïve 🍜', '\\n"}'),
  stopped('tool_use', { output_tokens: 89 }),
].join('');

const simple = [
  started(),
  said(0, 'Grüße, ', '世界 🌍!'),
  called(1, 'toolu_c', 'list_dir'),
  stopped('tool_use'),
].join('');

const metaOf = (metadata: object): object => ({
  provider: 'anthropic.messages',
  metadata: { anthropic: metadata },
});

const GOOD: readonly GoodStream[] = [
  {
    title: 'signed and redacted reasoning, words and two calls',
    wire: full,
    overAt: bytesThrough(full, '"type":"message_stop"'),
    events: [
      { kind: 'thinking', text: '先想 🤔' },
      { kind: 'thinking', text: '', meta: metaOf({ signature: 'c2lnbmVk+/8=' }) },
      { kind: 'thinking', text: '', meta: metaOf({ redactedData: 'RW5jcnlwdGVk' }) },
      { kind: 'text', text: WORDS },
      usageOf(151, 89, 100),
      readAndSearch('toolu_a', 'toolu_b'),
    ],
  },
  {
    title: 'words and a call without arguments',
    wire: simple,
    overAt: bytesThrough(simple, '"type":"message_stop"'),
    events: [
      { kind: 'text', text: 'Grüße, 世界 🌍!' },
      usageOf(12, 8),
      doneWith(
        'Grüße, 世界 🌍!',
        [{ id: 'toolu_c', name: 'list_dir', args: {} }],
        'tool_calls',
      ),
    ],
  },
];

const search = called(2, 'toolu_a', 'search', '{"query":"le', 'tter"}');
const searchBegun = bytesThrough(search, '"{\\"query'); // ASCII, so these are characters too

/** A reply up to a call, the beginning of whose arguments is there. */
const BEGUN: string = [
  started(),
  reasoned(0, 'c2ln', 'hm'),
  said(1, 'Let me '),
  search.slice(0, searchBegun),
].join('');

/** The next event, broken off. */
const BROKEN: string = search.slice(searchBegun, search.indexOf('tter') + 2);

/** What the API answers a request with that it refuses. */
const refusal = ({ message, type }: Refusal): object => ({
  type: 'error',
  error: { type, message },
});

/** The same inside a stream. */
const refusalEvent = ({ message, type }: Refusal): string =>
  event('error', { error: { type, message } });

export const ANTHROPIC: ProviderWire = {
  good: GOOD,
  begun: BEGUN,
  broken: BROKEN,
  signed: [{ kind: 'thinking', text: '', meta: metaOf({ signature: 'c2ln' }) }],
  refusal,
  refusalEvent,
  names: {
    rateLimit: 'rate_limit_error',
    internal: 'api_error',
    key: 'authentication_error',
    overloaded: 'overloaded_error',
  },
};
