import { DefaultToolRegistry } from '@celestea/tools';
import { describe, expect, test } from 'vitest';

import { call, toolOf } from './support/doubles.ts';

/** The error of a tool that throws at once, and of the same one rejecting. */
async function errorsOf(thrown: unknown): Promise<(string | null)[]> {
  const registry = new DefaultToolRegistry();
  registry.register({
    ...toolOf('sync'),
    execute: () => {
      throw thrown;
    },
  });
  registry.register(
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what it tests
    toolOf('async', () => Promise.reject(thrown)),
  );
  const outputs = [
    await registry.dispatch(call('sync')),
    await registry.dispatch(call('async')),
  ];
  for (const output of outputs) expect(output).toMatchObject({ value: null, decision: null });
  return outputs.map(({ error }) => error);
}

const circular = new Error('round');
circular.cause = circular;

const revoked = Proxy.revocable({}, {});
revoked.revoke();

const hostile = Object.assign(new Error('x'), { stack: '' });
Object.defineProperty(hostile, 'message', {
  get: () => {
    throw new Error('trap');
  },
});

const silent = 'failed without saying why';

describe('C3.7 a tool that fails is an error result with a useful text', () => {
  test.each<[string, unknown, string]>([
    ['an error', new Error('disk full'), 'disk full'],
    ['an error with a cause', new Error('fetch failed', { cause: new Error('ECONNREFUSED') }),
      'fetch failed: ECONNREFUSED'],
    ['a cause the message names', new Error('a: b', { cause: 'b' }), 'a: b'],
    ['an error that causes itself', circular, 'round'],
    ['a string', ' no luck ', 'no luck'],
    ['a number', 42, '42 was thrown'],
    ['a bigint', 42n, '42 was thrown'],
    ['a symbol', Symbol('odd'), 'Symbol(odd) was thrown'],
    ['false', false, 'false was thrown'],
    ['a function', () => 1, 'a function was thrown'],
    ['an object with a message', { message: 'quota' }, 'quota'],
    ['an object', { code: 7 }, '{"code":7} was thrown'],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1 }),
      '{"a":1} was thrown'],
    ['an aggregate', new AggregateError([new Error('one'), 'two', undefined]), 'one; two'],
    ['an error with a code alone', Object.assign(new Error(''), { code: 'EIO' }), 'EIO'],
    ['an error with a name alone', new RangeError(''), 'RangeError'],
    ['an error whose message is an object', Object.assign(new Error('x'), { message: {} }), silent],
    ['an error of an object', new Error('[object Object]'), silent],
    ['an empty error', new Error(''), silent],
    ['an empty error with a cause', new Error('', { cause: 'the cause' }), 'the cause'],
    ['an object with what JSON lacks', { at: new Date(0), id: 1n, f: Map },
      '{"at":"1970-01-01T00:00:00.000Z","f":"[function Map]","id":1} was thrown'],
    ['a half character', new Error('a\ud800'), 'a\ufffd'],
    ['an empty string', '', silent],
    ['undefined', undefined, silent],
    ['null', null, silent],
    ['an empty object', {}, silent],
    ['the word undefined', 'undefined', silent],
    ['a revoked proxy', revoked.proxy, silent],
    ['an error whose message throws', hostile, silent],
  ])('C3.7 %s', async (_title, thrown, text) => {
    expect(await errorsOf(thrown)).toEqual([text, text]);
  });

  test('C3.7 a huge message is bounded, and not cut within a character', async () => {
    const [error] = await errorsOf(new Error('😀'.repeat(100_000)));
    expect(error?.length).toBeLessThanOrEqual(8_000);
    expect(error).toMatch(/^(?:😀)+…$/u);
  });
});
