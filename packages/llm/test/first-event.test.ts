import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';

import type { Llm, LlmStream } from '@celestea/core';
import { describe, expect, test, vi } from 'vitest';

import { openReply } from '../src/first-event.ts';
import {
  busy,
  collect,
  HangingStream,
  request,
  says,
  streams,
  text,
  TriesLlm,
} from './support/tries.ts';

/** A model whose replies are opened ahead of their reader. */
const opening = (llm: Llm): Llm => ({
  generate: async (asked, options) => (await openReply(llm, asked, options)).reply,
});

const giving = (stream: unknown): Llm =>
  opening({ generate: () => Promise.resolve(stream as LlmStream) });

const reason = { of: 'the caller' };

/** A stream that comes, or fails to, when the gate is opened. */
interface Gate {
  readonly stream: Promise<LlmStream>;
  readonly open: (stream: LlmStream | Promise<never>) => void;
}

function gate(): Gate {
  let open: Gate['open'] = () => undefined;
  const stream = new Promise<LlmStream>((resolve) => {
    open = resolve;
  });
  return { stream, open };
}

describe('what is no stream', () => {
  test('reaches the reader as it came', async () => {
    const broken: unknown[] = [
      null,
      'text',
      {},
      { [Symbol.asyncIterator]: 1 },
      {
        [Symbol.asyncIterator]: () => {
          throw new Error('not readable');
        },
      },
    ];
    for (const value of broken) expect(await giving(value).generate(request)).toBe(value);
  });

  const unreadable = {
    get done(): boolean {
      throw new Error('not readable');
    },
  };
  const results: [string, unknown][] = [
    ['undefined', undefined],
    ['null', null],
    ['no event', { done: false, value: null }],
    ['a text', { done: false, value: 'x' }],
    ['what cannot be read', unreadable],
  ];
  test.each(results)(
    'a first read that gives %s does so for the reader as well',
    async (_name, result) => {
      const iterator = { next: () => Promise.resolve(result) };
      const given = await giving({ [Symbol.asyncIterator]: () => iterator }).generate(request);
      expect(await given[Symbol.asyncIterator]().next()).toBe(result);
    },
  );
});

describe('abort', () => {
  test('ends a generate that hangs; a stream that comes later is closed', async () => {
    const late = new HangingStream(text('late'));
    const rejection = (): Promise<never> => Promise.reject(busy());
    for (const outcome of [() => late, rejection]) {
      const { stream, open } = gate();
      const abort = new AbortController();
      const model = new TriesLlm({ at: 'gate', stream });
      const generated = opening(model).generate(request, abort);
      abort.abort(reason);
      await expect(generated).rejects.toBe(reason);
      open(outcome());
      await setImmediate();
      expect(late.closed).toBe(1);
    }
  });

  test('ends the wait for a first event, and the stream is closed', async () => {
    const closings = [
      () => Promise.resolve(),
      () => Promise.reject(new Error('cannot close')),
      () => new Promise(() => undefined),
    ];
    for (const closing of closings) {
      const closed = vi.fn(closing);
      const iterator = { next: () => new Promise(() => undefined), return: closed };
      const abort = new AbortController();
      const stream = { [Symbol.asyncIterator]: () => iterator };
      const generated = giving(stream).generate(request, abort);
      await setImmediate();
      abort.abort(reason);
      await expect(generated).rejects.toBe(reason);
      expect(closed).toHaveBeenCalledTimes(1);
    }
  });

  test('by the model itself ends the wait that follows', async () => {
    const hanging = new HangingStream();
    for (const reply of [new Promise<never>(() => undefined), Promise.resolve(hanging)]) {
      const abort = new AbortController();
      const generate = (): Promise<LlmStream> => {
        abort.abort(reason);
        return reply;
      };
      await expect(opening({ generate }).generate(request, abort)).rejects.toBe(reason);
    }
    await setImmediate();
    expect(hanging.closed).toBe(1);
  });

  test('after the first event is between the reader and the model', async () => {
    const model = new TriesLlm(says('hi'));
    const abort = new AbortController();
    const stream = await opening(model).generate(request, abort);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    abort.abort(reason);
    expect((await collect(stream)).map(({ kind }) => kind)).toEqual(['text', 'done']);
  });
});

describe('the stream', () => {
  test('is closed when its reader leaves, before the first read or after', async () => {
    for (const reads of [0, 1, 2]) {
      const hanging = new HangingStream(text('a'), text('b'));
      const llm = giving(hanging);
      const iterator = (await llm.generate(request))[Symbol.asyncIterator]();
      for (let read = 0; read < reads; read += 1) await iterator.next();
      expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
      expect(hanging.closed).toBe(1);
    }
  });

  test('is closed while a read hangs', async () => {
    const hanging = new HangingStream(text('a'));
    const llm = giving(hanging);
    const iterator = (await llm.generate(request))[Symbol.asyncIterator]();
    await iterator.next();
    void iterator.next();
    await iterator.return?.();
    expect(hanging.closed).toBe(1);
  });

  test('has nothing more after it was closed', async () => {
    const model = new TriesLlm(says('hi'));
    const iterator = (await opening(model).generate(request))[Symbol.asyncIterator]();
    await iterator.return?.();
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  test('may have no return', async () => {
    const next = (): Promise<IteratorResult<never>> =>
      Promise.resolve({ done: true, value: undefined });
    const stream: LlmStream = { [Symbol.asyncIterator]: () => ({ next }) };
    const llm = giving(stream);
    const iterator = (await llm.generate(request))[Symbol.asyncIterator]();
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
  });

  test('is read by one reader, in order', async () => {
    const model = new TriesLlm(streams(text('a'), text('b'), text('c')));
    const stream = await opening(model).generate(request);
    const reads = [1, 2, 3].map(() => stream[Symbol.asyncIterator]().next());
    expect((await Promise.all(reads)).map(({ value }): unknown => value)).toEqual(
      ['a', 'b', 'c'].map(text),
    );
  });
});
