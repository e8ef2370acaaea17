import type { StreamEvent } from '@celestea/core';
import { expect } from 'vitest';

import { KEY, type ProviderWire } from './provider-streams/good-stream.ts';
import { jsonReply, replyOf, type ScriptedReply } from './scripted-reply.ts';

/** A reply that is to end as an error. */
export interface ScriptedFailure {
  readonly title: string;
  readonly reply: ScriptedReply;
  /** The fields of the `LlmError`; the others are `null`. */
  readonly error: Readonly<Record<string, unknown>>;
  /** What its message says. */
  readonly says: RegExp;
  /** What was told before. */
  readonly events: readonly StreamEvent[];
}

/** Of a reply without its end. */
export const FIELDS_OF_TORN = { httpStatus: null, isTimeout: false, retryable: true };

const HTML = '<!doctype html>\n<title>Bad gateway</title>\n<p>nginx</p>\n';

const html = (status: number): ScriptedReply =>
  replyOf(HTML, { status, headers: { 'content-type': 'text/html' } });

const NO_JSON = 'data: {"choices":[{"del\n\n';

const WHOLE_REPLY = {
  object: 'chat.completion',
  error: null,
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
};

/** What was told of `begun` before it broke. */
const TOLD: readonly StreamEvent[] = [
  { kind: 'thinking', text: 'hm' },
  { kind: 'text', text: 'Let me ' },
];

/** What can go wrong with any provider that streams over HTTP, in this one's words. */
export function failuresOf(provider: ProviderWire): ScriptedFailure[] {
  const told = [...TOLD.slice(0, 1), ...provider.signed, ...TOLD.slice(1)];
  return [...refusals(provider), ...unreadable(provider), ...brokenOff(provider, told)];
}

/** Answers that are no stream. */
function refusals({ names, refusal }: ProviderWire): ScriptedFailure[] {
  const busy = refusal({ message: 'Too many requests, slow down.', type: names.rateLimit });
  const crash = refusal({ message: 'Something failed here.', type: names.internal });
  const wrongKey = refusal({ message: `Incorrect API key: ${KEY}, is it yours?`, type: names.key });
  const missing = refusal({ message: 'no such model', type: names.internal });
  const ownWords: Record<string, ScriptedReply> = {
    'whose error is a text': jsonReply(404, { error: 'no such model' }),
    'with a detail': jsonReply(404, { detail: 'no such model' }),
    'in a list': jsonReply(404, [missing]),
    'in words': replyOf('no such model\n', { status: 404 }),
  };
  const events: StreamEvent[] = [];
  return [
    {
      title: 'C2.4 429 with seconds to wait',
      reply: jsonReply(429, busy, { 'Retry-After': '7' }),
      error: { kind: 'generate', httpStatus: 429, retryable: true, retryAfterMs: 7000 },
      says: /^HTTP 429: Too many requests, slow down\.$/,
      events,
    },
    {
      title: 'C2.4 500',
      reply: jsonReply(500, crash),
      error: { kind: 'generate', httpStatus: 500, retryable: true },
      says: /^HTTP 500: Something failed here\.$/,
      events,
    },
    {
      title: 'C2.4 401, which echoes the key',
      reply: jsonReply(401, wrongKey),
      error: { kind: 'generate', httpStatus: 401, retryable: false },
      says: /^HTTP 401: Incorrect API key: \[hidden\], is it yours\?$/,
      events,
    },
    {
      title: 'C2.4 400 without a body',
      reply: { status: 400 },
      error: { kind: 'generate', httpStatus: 400, retryable: false },
      says: /^HTTP 400: Bad Request$/,
      events,
    },
    {
      title: 'C2.4 502 with the page of a proxy',
      reply: html(502),
      error: { kind: 'generate', httpStatus: 502, retryable: true },
      says: /^HTTP 502: Bad Gateway$/,
      events,
    },
    ...Object.entries(ownWords).map(([title, reply]) => ({
      title: `C2.4 404 ${title}`,
      reply,
      error: { kind: 'generate', httpStatus: 404, retryable: false },
      says: /^HTTP 404 at http:\/\/127\.0\.0\.1:\d+\/v1\S*: no such model$/,
      events,
    })),
  ];
}

/** A status of 200, and nothing of a reply behind it. */
function unreadable({ names, refusal }: ProviderWire): ScriptedFailure[] {
  const wrongKey = refusal({ message: `No such key: ${KEY}`, type: names.key });
  const busy = refusal({ message: 'Overloaded, come back later.', type: names.overloaded });
  const noStream = (type: string): RegExp =>
    new RegExp(`^the provider answered with ${type}, not an event stream; is the base URL right\\?`);
  const lasting = { httpStatus: null, kind: 'generate', retryable: false };
  const told = { kind: 'generate', retryable: false };
  const passing = { kind: 'generate', retryable: true };
  const plain = replyOf('not in your country', { headers: { 'content-type': 'text/plain' } });
  const cases: [string, ScriptedReply, RegExp, object][] = [
    ['the page of a proxy', html(200), noStream('text/html'), lasting],
    ['words', plain, /^the provider .* text\/plain,.*\(not in your country\)$/, lasting],
    ['JSON that is no stream', jsonReply(200, { ok: true }), noStream('application/json'), lasting],
    ['a whole reply', jsonReply(200, WHOLE_REPLY), noStream('application/json'), lasting],
    ['an error', jsonReply(200, wrongKey), /^No such key: \[hidden\]$/, told],
    ['an error in a list', jsonReply(200, [wrongKey]), /^No such key: \[hidden\]$/, told],
    ['an error that passes', jsonReply(200, busy), /^Overloaded, come back later\.$/, passing],
    [
      'an error that names its status',
      jsonReply(200, { error: { message: 'try again', code: 401 } }),
      /^try again$/,
      { ...lasting, httpStatus: 401 },
    ],
    ['an empty body', {}, /ended/, { ...FIELDS_OF_TORN, kind: 'stream' }],
  ];
  return cases.map(([title, reply, says, error]) => ({
    title: `C2.4 200 with ${title}`,
    reply,
    error: { ...error },
    says,
    events: [],
  }));
}

/** Streams that begin well. */
function brokenOff(provider: ProviderWire, told: readonly StreamEvent[]): ScriptedFailure[] {
  const { begun, broken, names, refusalEvent } = provider;
  const good = provider.good.at(-1) ?? { wire: '', events: [] };
  const sorry = { message: 'Overloaded, come back later.', type: names.overloaded };
  const echo = { message: `No such key: ${KEY}`, type: names.key };
  return [
    {
      title: 'C2.4 an error inside the stream',
      reply: replyOf(begun + refusalEvent(sorry)),
      error: { kind: 'stream', retryable: true, httpStatus: expect.toBeOneOf([null, 503, 529]) },
      says: /Overloaded, come back later\./,
      events: told,
    },
    {
      title: 'C2.4 an error inside the stream, which echoes the key',
      reply: replyOf(begun + refusalEvent(echo)),
      error: { kind: 'stream', retryable: false, httpStatus: expect.toBeOneOf([null, 401]) },
      says: /No such key: \[hidden\]/,
      events: told,
    },
    {
      title: 'C2.4 an error inside the stream, then a cut connection',
      reply: replyOf(begun + refusalEvent(sorry), { ending: 'cut' }),
      error: { kind: 'stream', retryable: true },
      says: /Overloaded, come back later\./,
      events: told,
    },
    {
      title: 'C2.4 an error as the only event of a 200',
      reply: replyOf(refusalEvent(sorry)),
      error: { retryable: true, httpStatus: expect.toBeOneOf([null, 503, 529]) },
      says: /Overloaded, come back later\./,
      events: [],
    },
    {
      title: 'the connection cut inside the arguments',
      reply: replyOf(begun + broken, { ending: 'cut' }),
      error: { ...FIELDS_OF_TORN, kind: 'stream' },
      says: /broke/,
      events: told,
    },
    {
      title: 'a clean end inside the arguments',
      reply: replyOf(begun + broken),
      error: { ...FIELDS_OF_TORN, kind: 'stream' },
      says: /ended/,
      events: told,
    },
    {
      title: 'an event that is no JSON',
      reply: replyOf(begun + NO_JSON),
      error: { kind: 'stream', retryable: true },
      says: /no JSON/,
      events: told,
    },
    {
      title: "C2.4 an error in a shape of the server's own",
      reply: replyOf(`${begun}data: {"error":"no such model"}\n\n`),
      error: { kind: 'stream', retryable: false },
      says: /^no such model$/,
      events: told,
    },
    {
      title: 'an event of another shape',
      reply: replyOf(`${begun}data: []\n\n`),
      error: { kind: 'stream', retryable: false },
      says: /unknown shape/,
      events: told,
    },
    {
      title: 'an event that is no JSON inside a reply that is whole without it',
      reply: replyOf(good.wire.replace(/(?:\r?\n){2}/, (end) => end + NO_JSON)),
      error: { kind: 'stream', retryable: true },
      says: /no JSON/,
      events: good.events.filter(({ kind }) => kind !== 'done'),
    },
  ];
}
