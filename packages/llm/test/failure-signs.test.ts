import { APICallError } from '@ai-sdk/provider';
import { LlmError } from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { aiSdkLlm } from '../src/index.ts';
import { collect, finish, requestOf, scriptedModel } from './support/v3-model.ts';

async function refused(
  statusCode: number,
  body: object | string,
  responseHeaders: Record<string, string> = {},
): Promise<unknown> {
  const responseBody = typeof body === 'string' ? body : JSON.stringify({ error: body });
  const refusal = { message: 'Refused', url: 'http://127.0.0.1/v1', requestBodyValues: {} };
  const error = new APICallError({ ...refusal, statusCode, responseBody, responseHeaders });
  const { model } = scriptedModel([]);
  const failing = { ...model, doStream: () => Promise.reject(error) };
  return aiSdkLlm(failing)
    .generate(requestOf())
    .catch((thrown: unknown) => thrown);
}

async function toldInStream(error: unknown): Promise<unknown> {
  const { model } = scriptedModel([{ type: 'error', error }, finish('error', 'error')]);
  return (await collect(await aiSdkLlm(model).generate(requestOf()))).thrown;
}

const BILLING = 'You exceeded your quota, please check your plan and billing details.';

describe('C2.4 whether a refusal may pass', () => {
  const refusals: readonly [number, object | string, boolean, Record<string, string>?][] = [
    [429, { message: BILLING, code: 'rate_limit_exceeded', type: 'tokens' }, true],
    [429, { message: BILLING, type: 'rate_limit_error' }, true],
    [429, { message: BILLING, status: 'RESOURCE_EXHAUSTED', code: 429 }, true],
    [429, { message: BILLING, type: 'requests' }, true],
    [429, { message: 'Too many requests; buy credits for more.' }, false],
    [429, { message: 'Too many requests; buy credits for more.', code: '429' }, false],
    [429, { message: 'Too many requests; buy credits for more.' }, true, { 'retry-after': '1' }],
    [429, 'no credit left', false],
    [429, 'slow down', true],
    [429, { message: 'Slow down.', code: 'insufficient_quota' }, false],
    [429, { message: 'Slow down.', type: 'insufficient_quota', code: null }, false],
    [429, { message: 'Slow down.', code: 'billing_hard_limit_reached' }, false],
    [429, { message: 'Slow down.', type: 'credit_balance_too_low' }, false],
    [429, { message: 'Wait.', type: 'invalid_request_error' }, true],
    [500, { message: 'The billing service is down.' }, true],
    [500, { message: 'No such key.', type: 'authentication_error' }, false],
    [529, { message: 'Overloaded', type: 'overloaded_error' }, true],
    [400, { message: 'rate limit, try again', type: 'rate_limit_error' }, false],
    [402, { message: 'Insufficient Balance' }, false],
  ];
  test.each(refusals)('%i %j: %s', async (status, body, retryable, headers) => {
    const error = await refused(status, body, headers);
    expect(error).toBeInstanceOf(LlmError);
    expect(error).toMatchObject({ httpStatus: status, retryable });
  });
});

describe('C2.4 whether an error inside a stream may pass', () => {
  const nested = (levels: number): unknown =>
    levels === 0 ? { message: 'deep' } : { error: nested(levels - 1) };

  test.each<[unknown, number | null, boolean]>([
    [{ message: 'internal policy: overloaded prompt', code: 400 }, 400, false],
    [{ message: 'try again with another key', status: '401' }, 401, false],
    [{ message: 'internal rate limit', type: 'invalid_request_error' }, null, false],
    [{ type: 'error', error: { message: 'timeout', type: 'authentication_error' } }, null, false],
    [{ message: 'unavailable', code: 'permission_error' }, null, false],
    [{ message: 'model unavailable', type: 'not_found_error' }, null, false],
    [{ message: 'unavailable', status: 'INVALID_ARGUMENT' }, null, false],
    [{ message: 'timeout', type: 'invalid_request_error', code: 'server_error' }, null, false],
    [{ message: 'try again', code: 'weird' }, null, false],
    [{ message: 'no', code: 503 }, 503, true],
    [{ message: 'no', type: 'overloaded_error' }, null, true],
    [{ type: 'error', error: { message: 'no', type: 'overloaded_error' } }, null, true],
    [{ message: 'try again' }, null, true],
    [{ message: 'try again', type: 'error' }, null, true],
    ['Overloaded', null, true],
    ['Overloaded: no credit', null, false],
    [new Error('internal'), null, false],
    [nested(20), null, false],
  ])('%j', async (told, httpStatus, retryable) => {
    const error = await toldInStream(told);
    expect(error).toBeInstanceOf(LlmError);
    expect(error).toMatchObject({ kind: 'stream', httpStatus, retryable });
  });
});
