import { inspect } from 'node:util';

import { APICallError, JSONParseError } from '@ai-sdk/provider';
import { LlmError } from '@celestea/core';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { aiSdkLlm } from '../src/index.ts';
import {
  call,
  collect,
  finish,
  finishWithoutReason,
  requestOf,
  scriptedModel,
  text,
  usageOf,
  type ScriptStep,
} from './support/v3-model.ts';

afterEach(() => {
  vi.useRealTimers();
});

const run = async (steps: readonly ScriptStep[], options = {}) =>
  collect(await aiSdkLlm(scriptedModel(steps).model, options).generate(requestOf()));

describe('a failure', () => {
  const torn: readonly (readonly [string, ScriptStep[], Partial<LlmError>])[] = [
    ['no end at all', [text('a')], { retryable: true }],
    ['nothing at all', [], { retryable: true }],
    ['an end without a reason', [text('a'), finishWithoutReason], { retryable: true }],
    [
      'an end inside a call',
      [{ type: 'tool-input-start', id: 'c', toolName: 'look' }, finish('tool-calls')],
      { retryable: true, message: 'the reply of the model ended inside a tool call' },
    ],
    [
      'a throw',
      [text('a'), { type: 'throw', error: new TypeError('terminated') }],
      { retryable: true },
    ],
    [
      'an error that is told',
      [
        { type: 'error', error: { message: 'Overloaded', type: 'overloaded_error' } },
        finish('error'),
      ],
      { retryable: true, message: 'Overloaded' },
    ],
    [
      'an error that is told, then a good end',
      [{ type: 'error', error: 'no such model' }, text('a'), finish()],
      { retryable: false, message: 'no such model' },
    ],
    [
      'a malformed event',
      [
        text('a'),
        { type: 'error', error: new JSONParseError({ text: '{secret', cause: null }) },
        finish(),
      ],
      { retryable: true, message: 'the provider sent an event that is no JSON' },
    ],
    [
      'an end with an error',
      [finish('error', 'MALFORMED_FUNCTION_CALL')],
      { message: 'the model stopped with an error (MALFORMED_FUNCTION_CALL)' },
    ],
    [
      'a filter',
      [finish('content-filter', 'SAFETY')],
      { message: 'the provider broke the reply off (SAFETY)' },
    ],
    [
      'a reason that is not known',
      [finish('other', 'odd')],
      {
        retryable: false,
        message:
          'the reply of the model has tool calls, and ended for a reason that is not known (odd)',
      },
    ],
    [
      'a filter of another name',
      [finish('other', 'sensitive')],
      { retryable: false, message: 'the provider broke the reply off (sensitive)' },
    ],
    ['an empty reason', [finish('other', '')], { retryable: true }],
  ];
  test.each(torn)(
    'C2.4 with calls before %s is an LlmError, and no call is told',
    async (_, end, expected) => {
      const { events, thrown } = await run([call('a', '{"whole":1}'), call('b', '{"pa'), ...end]);
      expect(events.filter(({ kind }) => kind === 'done')).toEqual([]);
      expect(thrown).toBeInstanceOf(LlmError);
      expect(thrown).toMatchObject({ kind: 'stream', ...expected });
    },
  );

  test.each([
    'insufficient_system_resource',
    'error',
    'network_error',
    'abort',
    'OTHER',
    'UNEXPECTED_TOOL_CALL',
  ])('C2.4 a reply that was broken off (%s) is no reply, with and without calls', async (raw) => {
    for (const calls of [[], [call('a', '{}')], [call('a', '')]]) {
      const { events, thrown } = await run([text('a'), ...calls, finish('other', raw)]);
      expect(events).toEqual([{ kind: 'text', text: 'a' }]);
      expect(thrown).toBeInstanceOf(LlmError);
      expect(thrown).toMatchObject({
        kind: 'stream',
        retryable: true,
        message: `the provider broke the reply off (${raw})`,
      });
    }
  });

  test('C2.2 what a failed reply cost is told before it fails', async () => {
    const { events, thrown } = await run([
      { type: 'error', error: 'broken' },
      finish('error', 'error', usageOf(5, 1)),
    ]);
    expect(events).toMatchObject([{ kind: 'usage', usage: { total_tokens: 6 } }]);
    expect(thrown).toMatchObject({ message: 'broken' });
  });

  const refusal = (statusCode: number, more = {}) =>
    new APICallError({
      message: 'no, key sk-live-1234567890 is bad',
      url: 'http://user:pass@127.0.0.1/v1',
      requestBodyValues: { prompt: 'private' },
      statusCode,
      responseBody: '{}',
      ...more,
    });
  const network = (code: string) =>
    new TypeError('fetch failed', { cause: Object.assign(new Error('inner'), { code }) });
  const refusals: readonly (readonly [string, unknown, Partial<LlmError>])[] = [
    ['401', refusal(401), { httpStatus: 401, retryable: false, retryAfterMs: null }],
    [
      '404',
      refusal(404),
      {
        httpStatus: 404,
        retryable: false,
        message: 'HTTP 404 at http://127.0.0.1/v1: no, key [hidden] is bad',
      },
    ],
    ['408', refusal(408), { httpStatus: 408, retryable: true }],
    [
      '429',
      refusal(429, { responseHeaders: { 'Retry-After': '2' } }),
      { httpStatus: 429, retryable: true, retryAfterMs: 2000 },
    ],
    [
      '429 in ms',
      refusal(429, { responseHeaders: { 'retry-after-ms': '30', 'retry-after': '9' } }),
      { retryAfterMs: 30 },
    ],
    [
      '429 for ever',
      refusal(429, { responseBody: '{"code":"insufficient_quota"}' }),
      { retryable: false },
    ],
    ['500', refusal(500), { httpStatus: 500, retryable: true }],
    ['529', refusal(529), { httpStatus: 529, retryable: true }],
    ['no route', network('ECONNREFUSED'), { kind: 'generate', retryable: true, httpStatus: null }],
    [
      'connect',
      network('UND_ERR_CONNECT_TIMEOUT'),
      { kind: 'timeout', timeoutStage: 'connect', retryable: true },
    ],
    [
      'headers',
      network('UND_ERR_HEADERS_TIMEOUT'),
      { kind: 'timeout', timeoutStage: 'response', retryable: true },
    ],
    [
      'body',
      network('UND_ERR_BODY_TIMEOUT'),
      { kind: 'timeout', timeoutStage: 'idle', retryable: true },
    ],
    [
      'a port that nobody may ask',
      new TypeError('fetch failed', { cause: new Error('bad port') }),
      { retryable: false, message: 'the provider cannot be asked: bad port' },
    ],
    [
      'headers without end',
      network('UND_ERR_HEADERS_OVERFLOW'),
      { retryable: false, message: 'the provider cannot be asked: inner' },
    ],
    ['a certificate', network('CERT_HAS_EXPIRED'), { retryable: false }],
    ['a text', 'no', { message: 'no', retryable: false }],
    ['nothing', undefined, { message: 'the provider gave no reason' }],
    [
      'an LlmError',
      new LlmError('mine', 'generate', { httpStatus: 418 }),
      { message: 'mine', httpStatus: 418 },
    ],
  ];
  test.each(refusals)('C2.4 %s has its class, and no secret', async (_, error, expected) => {
    const { model } = scriptedModel([]);
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- that is the case
    const failing = { ...model, doStream: () => Promise.reject(error) };
    const llm = aiSdkLlm(failing, { secrets: ['sk-live-1234567890'] });
    const thrown: unknown = await llm.generate(requestOf()).catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(LlmError);
    expect(thrown).toMatchObject({ kind: 'generate', ...expected });
    const shown = `${String(thrown)} ${JSON.stringify(thrown)} ${inspect(thrown)}`;
    expect(shown).not.toMatch(/sk-live|private|user:pass/);
  });

  test('C2.4 a Retry-After date is the time until then', async () => {
    vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z') });
    for (const [date, ms] of [
      ['Thu, 01 Jan 2026 00:00:09 GMT', 9000],
      ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
      ['soon', null],
      ['1e99', null],
    ] as const) {
      const error = refusal(503, { responseHeaders: { 'retry-after': date } });
      const { model } = scriptedModel([]);
      const llm = aiSdkLlm({ ...model, doStream: () => Promise.reject(error) });
      await expect(llm.generate(requestOf())).rejects.toMatchObject({ retryAfterMs: ms });
    }
  });

  test('a message that is long or full of line breaks is one bounded line', async () => {
    const { thrown } = await run([
      { type: 'error', error: { message: `a\n\tb ${'x'.repeat(5000)}` } },
      finish(),
    ]);
    expect(messageOf(thrown)).toMatch(/^a b x+…$/);
    expect(messageOf(thrown).length).toBeLessThan(620);
  });
});

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : '');
