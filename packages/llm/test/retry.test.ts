import { getEventListeners } from 'node:events';

import { LlmError, type Llm, type LlmStream } from '@celestea/core';
import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';

import { withRetry, type RetryNotice, type RetryPolicy } from '../src/retry.ts';
import {
  anyTry,
  busy,
  collect,
  expectAbortable,
  failedEvent,
  failingHooks,
  refused,
  rejects,
  request,
  says,
  seen,
  type Seen,
  seenOf,
  standingOf,
  streams,
  tears,
  text,
  throws,
  toldBy,
  TriesLlm,
  type Try,
  usageEvent,
} from './support/tries.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

/** Reads a reply, with every wait run through. */
async function readAll(llm: Llm, signal?: AbortSignal): Promise<Seen> {
  const reading = seen(llm, signal === undefined ? undefined : { signal });
  await vi.runAllTimersAsync();
  return reading;
}

const never: Try = rejects(new Error('there is a try too many'));

describe('what is tried again', () => {
  const inner = new Error('no class');
  const cases: [string, Try, boolean][] = [
    ['a rejection that is retryable', rejects(busy()), true],
    ['a throw of generate that is retryable', throws(busy()), true],
    ['a retryable throw before the first event', tears(busy()), true],
    ['a rejection that is not retryable', rejects(refused()), false],
    ['a throw of the stream that is not retryable', tears(refused()), false],
    ['an error without a class', rejects(inner), false],
    ['a look-alike', rejects(Object.assign(new Error('x'), { retryable: true })), false],
    ['no error at all', rejects(undefined), false],
    ['a `failed` event', streams(failedEvent), false],
    ['an empty reply', streams(), false],
    ['a retryable throw after text', tears(busy(), text('a')), false],
    ['a retryable throw after empty text', tears(busy(), text('')), false],
    ['a retryable throw after usage', tears(busy(), usageEvent), true],
    ['a reply', says('hi'), false],
  ];
  test.each(cases)('C2.4 %s', async (_name, first, isTriedAgain) => {
    const model = new TriesLlm(first, says('again'));
    const reply = await readAll(withRetry(model));
    expect(reply).toEqual(isTriedAgain ? standingOf(first, says('again')) : seenOf(first));
    expect(model.calls).toBe(isTriedAgain ? 2 : 1);
    expect(model.open).toBe(0);
  });

  test('the last error stands as it is, where it happened', async () => {
    for (const last of [rejects(busy()), throws(busy()), tears(busy())]) {
      const model = new TriesLlm(rejects(busy()), tears(busy()), last, never);
      const reply = await readAll(withRetry(model));
      expect(reply).toEqual(seenOf(last));
      expect(reply.error).toBe('error' in last ? last.error : null);
      expect(model.calls).toBe(3);
    }
  });

  test('C2.2 what failed tries cost is told with the failure that stands', async () => {
    const model = new TriesLlm(tears(busy(), usageEvent), rejects(refused()), never);
    expect(await readAll(withRetry(model))).toMatchObject({
      events: [usageEvent],
      broke: 'stream',
      error: { message: 'refused' },
    });
  });

  test('no retries are no retries', async () => {
    const model = new TriesLlm(rejects(busy()), never);
    expect(await readAll(withRetry(model, { retries: 0 }))).toMatchObject({ broke: 'generate' });
    expect(model.calls).toBe(1);
  });

  test('each try is handed the same request and options', async () => {
    const model = new TriesLlm(rejects(busy()), tears(busy()), says('hi'));
    const options = { signal: new AbortController().signal };
    const before = structuredClone(request);
    const generated = withRetry(model).generate(request, options);
    await vi.runAllTimersAsync();
    await (await generated)[Symbol.asyncIterator]().return?.();
    expect(model.requests).toEqual([before, before, before]);
    expect(model.requests.every((one) => one === request)).toBe(true);
    expect(model.options.every((one) => one === options)).toBe(true);
  });
});

describe('the waits', () => {
  /** The waits between the tries of a model that always fails, read off the clock. */
  async function waits(policy: RetryPolicy, ...errors: LlmError[]): Promise<number[]> {
    const told: RetryNotice[] = [];
    const at: number[] = [];
    const generate = (): Promise<LlmStream> => {
      at.push(Date.now());
      return Promise.reject(errors[at.length - 1] ?? busy());
    };
    const onRetry = (notice: RetryNotice): number => told.push(notice);
    const retries = policy.retries ?? errors.length;
    await readAll(withRetry({ generate }, { ...policy, retries, onRetry }));
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(gaps).toEqual(told.map(({ delayMs }) => delayMs));
    return gaps;
  }
  const whole = (): number => 1;

  const cases: [string, RetryPolicy, (number | null)[], number[]][] = [
    ['double', { random: whole }, [null, null, null], [500, 1000, 2000]],
    ['are half at the least', { random: () => 0 }, [null, null, null], [250, 500, 1000]],
    ['fall between', { random: () => 0.5 }, [null, null], [375, 750]],
    ['are capped', { random: whole, maxDelayMs: 700 }, [null, null, null], [500, 700, 700]],
    ['begin at the cap', { random: whole, maxDelayMs: 100 }, [null, null], [100, 100]],
    ['begin at the base', { random: whole, baseDelayMs: 40_000 }, [null, null], [40_000, 40_000]],
    ['may be none', { baseDelayMs: 0 }, [null, null], [0, 0]],
    ['are what was asked for', { random: whole }, [800, 1500, 900], [800, 1500, 2000]],
    ['are whole milliseconds', { baseDelayMs: 5, random: () => 0.5 }, [10.2, null], [11, 7]],
    ['may be asked up to the cap', { maxDelayMs: 9000 }, [9000], [9000]],
    ['are not begun beyond the cap', { maxDelayMs: 9000 }, [9001, null], []],
    ['know an endless request', {}, [Infinity], []],
    ['ignore a request that is none', { random: whole }, [NaN, -5, 0], [500, 1000, 2000]],
  ];
  test.each(cases)('%s', async (_name, policy, retryAfter, expected) => {
    expect(await waits(policy, ...retryAfter.map((ms) => busy(ms)))).toEqual(expected);
  });

  test('stay within the cap however many there are', async () => {
    const gaps = await waits({ retries: 1200, maxDelayMs: 1000, random: whole });
    expect(gaps).toEqual([500, ...Array<number>(1199).fill(1000)]);
    expect(await waits({ retries: 1200, baseDelayMs: 0, maxDelayMs: 0 })).toEqual(
      Array<number>(1200).fill(0),
    );
  });

  test('are spread by Math.random unless something else is given', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.2);
    expect(await waits({}, busy())).toEqual([300]);
    vi.restoreAllMocks();
  });

  test('are told with the try that comes and the error', async () => {
    const errors = [busy(), busy()] as const;
    const told: RetryNotice[] = [];
    const model = new TriesLlm(rejects(errors[0]), tears(errors[1]), says('hi'));
    const onRetry = (notice: RetryNotice): number => told.push(notice);
    await readAll(withRetry(model, { onRetry, random: whole }));
    expect(told).toEqual([
      { attempt: 2, attempts: 3, delayMs: 500, error: errors[0] },
      { attempt: 3, attempts: 3, delayMs: 1000, error: errors[1] },
    ]);
    expect(told.map(({ error }) => error === errors[0])).toEqual([true, false]);
  });

  test('are told to a hook that may fail as it likes', async () => {
    for (const onRetry of failingHooks) {
      const model = new TriesLlm(rejects(busy()), says('hi'));
      expect(await readAll(withRetry(model, { onRetry }))).toEqual(seenOf(says('hi')));
    }
  });
});

describe('abort', () => {
  const reason = { of: 'the caller' };

  test('ends a wait at once and leaves nothing behind', async () => {
    const model = new TriesLlm(rejects(busy()), never);
    const abort = new AbortController();
    const reading = seen(withRetry(model), abort);
    await vi.advanceTimersByTimeAsync(100);
    expect([model.calls, vi.getTimerCount()]).toEqual([1, 1]);
    abort.abort(reason);
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    expect(await reading).toEqual({ events: [], broke: 'generate', error: reason });
    expect(model.calls).toBe(1);
  });

  test('of a hook starts no wait', async () => {
    const model = new TriesLlm(rejects(busy()), never);
    const abort = new AbortController();
    const onRetry = (): void => {
      abort.abort(reason);
    };
    const generated = withRetry(model, { onRetry }).generate(request, abort);
    await expect(generated).rejects.toBe(reason);
    expect([model.calls, vi.getTimerCount()]).toEqual([1, 0]);
  });

  test('at any moment gives the reason or the reply, and nothing is asked after it', async () => {
    for (const first of [rejects(busy()), throws(busy()), tears(busy())]) {
      await expectAbortable(() => {
        const model = new TriesLlm(first, tears(busy()), says('hi'));
        return { llm: withRetry(model, { baseDelayMs: 0 }), models: [model] };
      }, seenOf(says('hi')));
    }
  });

  test('X2 that came before keeps the model from being asked', async () => {
    const model = new TriesLlm();
    expect(await readAll(withRetry(model), AbortSignal.abort(reason))).toEqual({
      events: [],
      broke: 'generate',
      error: reason,
    });
    expect(model.calls).toBe(0);
  });
});

test('two replies at once count their tries apart', async () => {
  const calls: Record<string, number> = {};
  const inner: Llm = {
    generate: ({ model }) => {
      const count = (calls[model] ?? 0) + 1;
      calls[model] = count;
      const model2 = new TriesLlm(count < 3 ? rejects(busy()) : says(model));
      return model2.generate(request);
    },
  };
  const llm = withRetry(inner, { retries: 2 });
  const asking = ['a', 'b'].map((model) => llm.generate({ ...request, model }));
  await vi.runAllTimersAsync();
  const replies = await Promise.all(asking);
  for (const [index, stream] of replies.entries()) {
    expect((await collect(stream))[0]).toEqual(text(['a', 'b'][index] ?? ''));
  }
  expect(calls).toEqual({ a: 3, b: 3 });
});

describe('whatever the tries do', () => {
  /** The try whose outcome stands: the first that is not an early, retryable failure. */
  function standing(tries: readonly Try[], retries: number, maxDelayMs: number): number {
    const at = tries.findIndex((one, index) => {
      if (index === retries || !('error' in one)) return true;
      if (toldBy(one).length > 0) return true;
      const { error } = one;
      return !(error instanceof LlmError && error.retryable) || wait(error) > maxDelayMs;
    });
    return at;
  }
  const wait = (error: LlmError): number => error.retryAfterMs ?? 0;

  test('the reader sees one of them, whole', async () => {
    const scripts = fc.array(anyTry, { minLength: 6, maxLength: 6 });
    const policies = fc.record({
      retries: fc.nat(5),
      maxDelayMs: fc.integer({ min: 500, max: 4000 }),
      random: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => () => value),
    });
    await fc.assert(
      fc.asyncProperty(scripts, policies, async (tries, policy) => {
        const delays: number[] = [];
        const onRetry = ({ delayMs }: RetryNotice): number => delays.push(delayMs);
        const model = new TriesLlm(...tries);
        const start = Date.now();
        const reply = await readAll(withRetry(model, { ...policy, onRetry }));
        const at = standing(tries, policy.retries, policy.maxDelayMs);
        expect(reply).toEqual(standingOf(...tries.slice(0, at + 1)));
        expect(model.calls).toBe(at + 1);
        expect([model.open, delays.length]).toEqual([0, at]);
        expect(delays.every((ms) => ms >= 250 && ms <= policy.maxDelayMs)).toBe(true);
        expect(Date.now() - start).toBe(delays.reduce((all, ms) => all + ms, 0));
      }),
    );
  });
});

describe('what does not fit', () => {
  const model = new TriesLlm();
  const call = (...args: unknown[]): unknown => Reflect.apply(withRetry, null, args);
  const cases: [string, unknown[]][] = [
    ['llm: expected a model, an object with generate, got undefined', []],
    ['llm: expected a model, an object with generate, got an object', [{ generate: 1 }]],
    ['policy: expected an object such as { retries: 2 }, got null', [model, null]],
    ['policy: expected an object such as { retries: 2 }, got 3', [model, 3]],
    ['retries: expected a whole number from 0, got -1', [model, { retries: -1 }]],
    ['retries: expected a whole number from 0, got 1.5', [model, { retries: 1.5 }]],
    ['retries: expected a whole number from 0, got NaN', [model, { retries: NaN }]],
    ['retries: expected a whole number from 0, got Infinity', [model, { retries: Infinity }]],
    ['retries: expected a whole number from 0, got "2"', [model, { retries: '2' }]],
    ['retries: expected a whole number from 0, got null', [model, { retries: null }]],
    [
      'baseDelayMs: expected milliseconds from 0 to 2147483647, got -1',
      [model, { baseDelayMs: -1 }],
    ],
    [
      'baseDelayMs: expected milliseconds from 0 to 2147483647, got NaN',
      [model, { baseDelayMs: NaN }],
    ],
    [
      'maxDelayMs: expected milliseconds from 0 to 2147483647, got Infinity',
      [model, { maxDelayMs: Infinity }],
    ],
    [
      'maxDelayMs: expected milliseconds from 0 to 2147483647, got null',
      [model, { maxDelayMs: null }],
    ],
    [
      'maxDelayMs: expected at least baseDelayMs (500), got 400',
      [model, { baseDelayMs: 500, maxDelayMs: 400 }],
    ],
    ['onRetry: expected a function, got "x"', [model, { onRetry: 'x' }]],
    ['onRetry: expected a function, got null', [model, { onRetry: null }]],
    ['random: expected a function, got 0.5', [model, { random: 0.5 }]],
  ];
  test.each(cases)('%s', (message, args) => {
    expect(() => call(...args)).toThrow(new TypeError(message));
  });

  test('what is undefined is left out', async () => {
    const policy = { retries: undefined, baseDelayMs: undefined, maxDelayMs: undefined };
    const failing = new TriesLlm(rejects(busy()), rejects(busy()), rejects(busy()), never);
    const hooks = { onRetry: undefined, random: undefined };
    const llm = call(failing, { ...policy, ...hooks }) as Llm;
    expect(await readAll(llm)).toMatchObject({ broke: 'generate' });
    expect(failing.calls).toBe(3);
  });
});
