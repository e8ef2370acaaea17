import { LlmError, type Llm, type LlmStream } from '@celestea/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { withFallback, type FallbackNotice, type FallbackOptions } from '../src/fallback.ts';
import type { NamedLlm } from '../src/named-llm.ts';
import { withRetry } from '../src/retry.ts';
import {
  anyTry,
  busy,
  collect,
  done,
  expectAbortable,
  failedEvent,
  failingHooks,
  HangingStream,
  refused,
  rejects,
  request,
  says,
  seen,
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

const reason = { of: 'the caller' };

interface Told {
  readonly options: Required<FallbackOptions>;
  readonly fallbacks: FallbackNotice[];
  readonly answers: string[];
}

function told(): Told {
  const fallbacks: FallbackNotice[] = [];
  const answers: string[] = [];
  const onFallback = (notice: FallbackNotice): number => fallbacks.push(notice);
  const onAnswer = (name: string): number => answers.push(name);
  return { options: { onFallback, onAnswer }, fallbacks, answers };
}

/** Models named a, b, c, …, one a try. */
function named(...tries: Try[]): { llms: NamedLlm[]; models: TriesLlm[] } {
  const models = tries.map((one) => new TriesLlm(one));
  const llms = models.map((llm, index) => ({ name: 'abcdef'.charAt(index), llm }));
  return { llms, models };
}

const callsOf = (models: readonly TriesLlm[]): number[] => models.map(({ calls }) => calls);

describe('when the next one is asked', () => {
  const failures: [string, Try, unknown][] = [
    ['a rejection', rejects(busy()), busy()],
    ['a rejection that is not retryable', rejects(refused(401)), refused(401)],
    ['a request that is refused', rejects(refused(400)), refused(400)],
    ['a request that is too large', rejects(refused(413)), refused(413)],
    ['an error without a class', rejects(new Error('no class')), new Error('no class')],
    ['a rejection with a text', rejects('no'), 'no'],
    ['a rejection with nothing', rejects(undefined), undefined],
    ['a throw of generate', throws(busy()), busy()],
    ['a throw before the first event', tears(refused()), refused()],
    ['a `failed` event', streams(failedEvent), new LlmError('overloaded', 'stream')],
    ['an empty reply', streams(), expect.objectContaining({ kind: 'stream', retryable: false })],
  ];
  test.each(failures)('C2.3 after %s', async (_name, first, error) => {
    const { llms, models } = named(first, says('hi'));
    const { options, fallbacks, answers } = told();
    expect(await seen(withFallback(llms, options))).toEqual(seenOf(says('hi')));
    expect(fallbacks).toEqual([{ failed: 'a', next: 'b', error }]);
    if ('error' in first) expect(fallbacks[0]?.error).toBe(first.error);
    expect(answers).toEqual(['b']);
    expect(models.map(({ open }) => open)).toEqual([0, 0]);
  });

  test.each(failures)('C2.3 not after %s of the last one, which stands', async (_name, last) => {
    const { llms, models } = named(rejects(busy()), last);
    const { options, fallbacks, answers } = told();
    const reply = await seen(withFallback(llms, options));
    expect(reply).toEqual(seenOf(last));
    if ('error' in last) expect(reply.error).toBe(last.error);
    expect([fallbacks.length, answers]).toEqual([1, []]);
    expect(callsOf(models)).toEqual([1, 1]);
  });

  const replies: [string, Try][] = [
    ['text', tears(busy(), text('a'))],
    ['empty text', tears(busy(), text(''))],
    ['thinking, then `failed`', streams({ kind: 'thinking', text: 'a' }, failedEvent)],
    ['a reply', says('hi')],
    ['`interrupted`', streams({ kind: 'interrupted' })],
  ];
  test.each(replies)('C2.3 not after %s', async (_name, first) => {
    const { llms, models } = named(first, says('no'));
    const { options, fallbacks, answers } = told();
    expect(await seen(withFallback(llms, options))).toEqual(seenOf(first));
    expect([fallbacks, answers]).toEqual([[], ['a']]);
    expect(callsOf(models)).toEqual([1, 0]);
  });

  test('C2.2 after usage alone, which is told with the reply that stands', async () => {
    const { llms } = named(tears(busy(), usageEvent), streams(usageEvent, failedEvent), says('hi'));
    const { options, answers } = told();
    const { events } = await seen(withFallback(llms, options));
    expect(events).toEqual([usageEvent, usageEvent, text('hi'), done('hi')]);
    expect(answers).toEqual(['c']);
  });

  const odd: [string, unknown][] = [
    ['the model returned null instead of a stream', null],
    ['the model returned an object instead of a stream', { next: () => undefined }],
    ['the model returned an array instead of a stream', [text('a')]],
    [
      'the stream gave undefined instead of an iterator result',
      { [Symbol.asyncIterator]: () => ({ next: () => undefined }) },
    ],
  ];
  test.each(odd)('C2.3 after a reply that cannot be read: %s', async (message, reply) => {
    const generate = (): Promise<LlmStream> => Promise.resolve(reply as LlmStream);
    const { options, fallbacks } = told();
    const llms = [{ name: 'odd', llm: { generate } }, ...named(says('hi')).llms];
    expect(await seen(withFallback(llms, options))).toEqual(seenOf(says('hi')));
    expect(fallbacks).toEqual([{ failed: 'odd', next: 'a', error: new TypeError(message) }]);
  });
});

test('a `failed` stream is closed before the next one answers, whatever closing does', async () => {
  for (const close of [
    () => Promise.resolve({ done: true, value: undefined } as const),
    () => Promise.reject(new Error('cannot close')),
    () => new Promise<never>(() => undefined),
    (): never => {
      throw new Error('cannot close');
    },
  ]) {
    let closed = 0;
    const iterator = {
      next: () => Promise.resolve({ done: false, value: failedEvent } as const),
      return: () => {
        closed += 1;
        return close();
      },
    };
    const stream: LlmStream = { [Symbol.asyncIterator]: () => iterator };
    const failing = { name: 'f', llm: { generate: () => Promise.resolve(stream) } };
    const llm = withFallback([failing, ...named(says('hi')).llms]);
    expect(await seen(llm)).toEqual(seenOf(says('hi')));
    expect(closed).toBe(1);
  }
});

test('a last `failed` stream is the reader’s, whole', async () => {
  const { llms, models } = named(rejects(busy()), streams(failedEvent, usageEvent));
  const stream = await withFallback(llms).generate(request);
  expect(models[1]?.open).toBe(1);
  expect(await collect(stream)).toEqual([failedEvent, usageEvent]);
});

test('each request begins with the first one again, and is handed on as it is', async () => {
  const first = new TriesLlm(rejects(busy()), says('first'));
  const second = new TriesLlm(says('second'));
  const llm = withFallback([
    { name: 'first', llm: first },
    { name: 'second', llm: second },
  ]);
  const options = { signal: new AbortController().signal };
  expect(await seen(llm, options)).toEqual(seenOf(says('second')));
  expect(await seen(llm, options)).toEqual(seenOf(says('first')));
  for (const { requests, options: given } of [first, second]) {
    expect(requests.every((one) => one === request)).toBe(true);
    expect(given.every((one) => one === options)).toBe(true);
  }
  expect(callsOf([first, second])).toEqual([2, 1]);
});

test('two replies at once change models apart', async () => {
  const release: (() => void)[] = [];
  const slow: Llm = {
    generate: ({ model }) =>
      new Promise((resolve, reject) => {
        release.push(() => {
          if (model === 'x') reject(busy());
          else resolve(new HangingStream(text(model), done(model)));
        });
      }),
  };
  const { options, answers } = told();
  const { llms, models } = named(says('fallback'));
  const llm = withFallback([{ name: 'slow', llm: slow }, ...llms], options);
  const asking = ['x', 'y'].map((model) => llm.generate({ ...request, model }));
  for (const go of release.reverse()) go();
  const streamed = await Promise.all(asking);
  const firsts = streamed.map((stream) => stream[Symbol.asyncIterator]().next());
  expect(await Promise.all(firsts)).toMatchObject(
    ['fallback', 'y'].map((words) => ({ value: text(words) })),
  );
  expect(answers.sort()).toEqual(['a', 'slow']);
  expect(callsOf(models)).toEqual([1]);
});

test('hooks may fail as they like', async () => {
  for (const hook of failingHooks) {
    const { llms } = named(rejects(busy()), says('hi'));
    const llm = withFallback(llms, { onFallback: hook, onAnswer: hook });
    expect(await seen(llm)).toEqual(seenOf(says('hi')));
  }
});

test('onFallback is told before the next one is asked, onAnswer at the first event', async () => {
  const order: string[] = [];
  const asked = (name: string, one: Try): NamedLlm => {
    const llm = new TriesLlm(one);
    const generate: Llm['generate'] = (...args) => {
      order.push(`asked ${name}`);
      return llm.generate(...args);
    };
    return { name, llm: { generate } };
  };
  const llm = withFallback([asked('a', tears(busy())), asked('b', says('hi'))], {
    onFallback: ({ failed, next }) => order.push(`${failed} to ${next}`),
    onAnswer: (name) => order.push(`answers ${name}`),
  });
  await seen(llm);
  expect(order).toEqual(['asked a', 'a to b', 'asked b', 'answers b']);
});

test('the caller’s list and its entries may change later', async () => {
  const llms: { name: string; llm: Llm }[] = named(rejects(busy()), says('hi')).llms;
  const { options, answers } = told();
  const llm = withFallback(llms, options);
  for (const entry of llms) entry.name = 'renamed';
  llms.length = 0;
  expect(await seen(llm)).toEqual(seenOf(says('hi')));
  expect(answers).toEqual(['b']);
});

describe('abort', () => {
  test('at any moment gives the reason or the reply, and nobody is asked after it', async () => {
    for (const first of [rejects(busy()), throws(busy()), tears(busy()), streams(failedEvent)]) {
      await expectAbortable(() => {
        const { llms, models } = named(first, streams(), says('hi'));
        return { llm: withFallback(llms), models };
      }, seenOf(says('hi')));
    }
  });

  test('of a hook asks nobody else', async () => {
    const { llms, models } = named(rejects(busy()), says('hi'));
    const abort = new AbortController();
    const onFallback = (): void => {
      abort.abort(reason);
    };
    const generated = withFallback(llms, { onFallback }).generate(request, abort);
    await expect(generated).rejects.toBe(reason);
    expect(callsOf(models)).toEqual([1, 0]);
  });

  test('X2 that came before keeps all of them from being asked', async () => {
    const { llms, models } = named(says('no'), says('no'));
    const { options: hooks, fallbacks } = told();
    const reply = await seen(withFallback(llms, hooks), { signal: AbortSignal.abort(reason) });
    expect(reply).toEqual({ events: [], broke: 'generate', error: reason });
    expect([callsOf(models), fallbacks]).toEqual([[0, 0], []]);
  });
});

test('each model may be retried before the next one is asked', async () => {
  const first = new TriesLlm(rejects(busy()), tears(busy()));
  const second = new TriesLlm(rejects(busy()), says('hi'));
  const policy = { retries: 1, baseDelayMs: 0 };
  const { options, fallbacks, answers } = told();
  const llm = withFallback(
    [
      { name: 'first', llm: withRetry(first, policy) },
      { name: 'second', llm: withRetry(second, policy) },
    ],
    options,
  );
  expect(await seen(llm)).toEqual(seenOf(says('hi')));
  expect(callsOf([first, second])).toEqual([2, 2]);
  expect([fallbacks.length, answers]).toEqual([1, ['second']]);
});

test('and the whole of them again', async () => {
  const first = new TriesLlm(rejects(refused()), says('hi'));
  const second = new TriesLlm(rejects(busy()));
  const both = withFallback([
    { name: 'first', llm: first },
    { name: 'second', llm: second },
  ]);
  expect(await seen(withRetry(both, { baseDelayMs: 0 }))).toEqual(seenOf(says('hi')));
});

test('whatever the models do, the reader sees one of them, whole', async () => {
  const scripts = fc.array(anyTry, { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(scripts, async (tries) => {
      const fails = (one: Try): boolean => (toldBy(one)[0] ?? failedEvent).kind === 'failed';
      const healthy = tries.findIndex((one) => !fails(one));
      const at = healthy === -1 ? tries.length - 1 : healthy;
      const { llms, models } = named(...tries);
      const { options, fallbacks, answers } = told();
      const reply = await seen(withFallback(llms, options));
      expect(reply).toEqual(standingOf(...tries.slice(0, at + 1)));
      expect(callsOf(models)).toEqual(tries.map((_, index) => (index <= at ? 1 : 0)));
      expect(models.every(({ open }) => open === 0)).toBe(true);
      const names = llms.map(({ name }) => name);
      expect(fallbacks.map(({ failed }) => failed)).toEqual(names.slice(0, at));
      expect(fallbacks.map(({ next }) => next)).toEqual(names.slice(1, at + 1));
      expect(answers).toEqual(healthy === -1 ? [] : [names[healthy]]);
    }),
  );
});

describe('what does not fit', () => {
  const { llms } = named(says('hi'));
  const llm = llms[0]?.llm;
  const list = 'an array with at least one { name, llm }';
  const cases: [string, unknown[]][] = [
    [`llms: expected ${list}, got undefined`, []],
    [`llms: expected ${list}, got an object`, [{ name: 'a', llm }]],
    [`llms: expected ${list}, got an empty array`, [[]]],
    ['llms[0]: expected an object { name, llm }, got undefined', [Array(1)]],
    ['llms[1]: expected an object { name, llm }, got null', [[...llms, null]]],
    ['llms[0].name: expected a text that is not empty, got ""', [[{ name: '', llm }]]],
    ['llms[0].name: expected a text that is not empty, got " "', [[{ name: ' ', llm }]]],
    ['llms[0].name: expected a text that is not empty, got 1', [[{ name: 1, llm }]]],
    [
      'llms[0].llm: expected a model, an object with generate, got undefined',
      [[{ name: 'a' }]],
    ],
    [
      'llms[1].llm: expected a model, an object with generate, got an object',
      [[...llms, { name: 'b', llm: {} }]],
    ],
    ['options: expected an object such as { onAnswer }, got null', [llms, null]],
    ['onFallback: expected a function, got 1', [llms, { onFallback: 1 }]],
    ['onAnswer: expected a function, got null', [llms, { onAnswer: null }]],
  ];
  test.each(cases)('%s', (message, args) => {
    const call = (): unknown => Reflect.apply(withFallback, null, args);
    expect(call).toThrow(new TypeError(message));
  });
});
