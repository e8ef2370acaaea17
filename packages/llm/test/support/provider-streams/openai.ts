import type { Usage } from '@celestea/core';

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

const chunk = (choices: unknown[], rest: object = {}): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-7', choices, ...rest })}\n\n`;

const delta = (fields: object): string => chunk([{ index: 0, delta: fields }]);

const calls = (...pieces: object[]): string => delta({ tool_calls: pieces });

const named = (id: string, name: string, args: string): object => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

/** More arguments of the call at a place. */
const more = (index: number, args: string): object => ({ index, function: { arguments: args } });

export const used = ({ cache_read, reasoning_tokens, ...totals }: Usage): string =>
  chunk([], {
    usage: {
      ...totals,
      prompt_tokens_details: { cached_tokens: cache_read },
      completion_tokens_details: { reasoning_tokens },
    },
  });

const usage = used({
  prompt_tokens: 310,
  completion_tokens: 74,
  total_tokens: 384,
  cache_read: 256,
  reasoning_tokens: 31,
});

export const DONE = 'data: [DONE]\n\n';

export const said = (content: string): string => delta({ content });

export const reasoned = (text: string): string => delta({ reasoning_content: text });

/** A call with these arguments, whole or not, and what else stands beside its function. */
export const calling = (
  id: string,
  name: string,
  json: string,
  index: number,
  beside: object = {},
): string => calls({ index, ...named(id, name, json), ...beside });

export const called = (id: string, name: string, args: unknown, index: number): string =>
  calling(id, name, JSON.stringify(args), index);

export const finished = (reason: string): string =>
  chunk([{ index: 0, delta: {}, finish_reason: reason }]);

/** A whole stream: these chunks, the usage, the end. */
export const streamOf = (...chunks: string[]): string => [...chunks, usage, DONE].join('');

const interleaved = streamOf(
  ': the provider is thinking\n\n',
  delta({ role: 'assistant', content: '' }),
  reasoned('先看文件'),
  reasoned('，再回答 🧭'),
  said('Ich lese cafe\u0301 '),
  said('und 漢字 👩‍🚀.'),
  ': still there\n\n',
  calls({ index: 0, ...named('call_a', 'read_file', '') }),
  calls(more(0, '{"path":"docs/')),
  calls({ index: 1, ...named('call_b', 'search', '{"query"') }),
  calls(more(1, ':"naïve '), more(0, '日本')),
  calls(more(0, '語.md"')),
  calls(more(1, '🍜\\n"}')),
  calls(more(0, '}')),
  finished('tool_calls'),
);

const careless = [
  calls({ index: 0, function: { name: 'list_dir', arguments: '' } }),
  calls({ id: 'call_c', function: { name: 'read_file', arguments: '{"path":"é.md"}' } }),
  calls({ index: 2, id: '', function: { name: 'search', arguments: null } }),
  calls(more(2, '{"query":'), more(2, '"ж"}')),
  finished('stop'),
].join('');

const plain = [
  said('Grüße, '),
  said('世界 🌍'),
  chunk([{ index: 0, delta: { content: '!' }, finish_reason: 'stop' }], {
    usage: { prompt_tokens: 9, completion_tokens: 4 },
  }),
  DONE,
].join('').replaceAll('\n', '\r\n');

const GOOD: readonly GoodStream[] = [
  {
    title: 'reasoning, words and two calls whose arguments are interleaved',
    wire: interleaved,
    overAt: bytesThrough(interleaved, '"finish_reason":"tool_calls"'),
    events: [
      { kind: 'thinking', text: '先看文件，再回答 🧭' },
      { kind: 'text', text: WORDS },
      usageOf(310, 74, 256, 31),
      readAndSearch('call_a', 'call_b'),
    ],
  },
  {
    title: 'calls without an id, without an index and without arguments; no usage, no [DONE]',
    wire: careless,
    overAt: bytesThrough(careless, '"finish_reason":"stop"'),
    events: [
      doneWith(
        '',
        [
          { id: 'made-1', name: 'list_dir', args: {} },
          { id: 'call_c', name: 'read_file', args: { path: 'é.md' } },
          { id: 'made-2', name: 'search', args: { query: 'ж' } },
        ],
        'stop',
      ),
    ],
  },
  {
    title: 'words alone, with CRLF, the usage beside the finish reason',
    wire: plain,
    overAt: bytesThrough(plain, '"finish_reason":"stop"', '\r\n\r\n'),
    events: [
      { kind: 'text', text: 'Grüße, 世界 🌍!' },
      usageOf(9, 4),
      doneWith('Grüße, 世界 🌍!', [], 'stop'),
    ],
  },
];

/** A reply up to a call, the beginning of whose arguments is there. */
const BEGUN: string = [
  reasoned('hm'),
  said('Let me '),
  calls({ index: 0, ...named('call_a', 'search', '{"query":"le') }),
].join('');

/** The next event, broken off. */
const BROKEN: string = calls(more(0, 'tter"}')).slice(0, -6);

/** What the API answers a request with that it refuses. */
const refusal = ({ message, type }: Refusal): object => ({
  error: { message, type, param: null, code: null },
});

/** The same inside a stream. */
const refusalEvent = (what: Refusal): string => `data: ${JSON.stringify(refusal(what))}\n\n`;

export const OPENAI: ProviderWire = {
  good: GOOD,
  begun: BEGUN,
  broken: BROKEN,
  signed: [],
  refusal,
  refusalEvent,
  names: {
    rateLimit: 'rate_limit_exceeded',
    internal: 'server_error',
    key: 'invalid_request_error',
    overloaded: 'server_error',
  },
};
