import { LlmError, type Content, type Llm, type Message, type StreamEvent } from '@celestea/core';

import type { ArrangedLlm } from './arranged-llm.ts';

/** Makes another Llm of the well-behaved one. */
export type Bend = (llm: ArrangedLlm) => Llm;

type EventOf<Kind extends StreamEvent['kind']> = Extract<StreamEvent, { kind: Kind }>;
type CallOf = Extract<Content, { type: 'tool_call' }>['content'];

const isOf = <Kind extends StreamEvent['kind']>(
  event: StreamEvent,
  kind: Kind,
): event is EventOf<Kind> => event.kind === kind;

/** Puts other events in the place of those of one kind. */
export const events =
  <Kind extends StreamEvent['kind']>(
    kind: Kind,
    bend: (event: EventOf<Kind>) => readonly unknown[],
  ): Bend =>
  (llm) => ({
    generate: async (request, options) => {
      const stream = await llm.generate(request, options);
      return (async function* () {
        for await (const event of stream) {
          // What a broken model sends fits no type.
          yield* isOf(event, kind) ? (bend(event) as StreamEvent[]) : [event];
        }
      })();
    },
  });

export const messages = (bend: (message: Message) => object): Bend =>
  events('done', (event) => [{ ...event, message: bend(event.message) }]);

export const calls = (bend: (call: CallOf) => object): Bend =>
  messages((message) => ({
    ...message,
    content: message.content.map((block) =>
      block.type === 'tool_call' ? { ...block, content: bend(block.content) } : block,
    ),
  }));

export const usage = (bend: (counts: Record<string, number>) => object): Bend =>
  events('usage', (event) => [{ ...event, usage: bend({ ...event.usage }) }]);

/** Answers requests in another way; `ask` asks the well-behaved one. */
export const asking =
  (
    answer: (
      ask: () => ReturnType<Llm['generate']>,
      request: Parameters<Llm['generate']>[0],
      signal: AbortSignal | undefined,
    ) => ReturnType<Llm['generate']>,
  ): Bend =>
  (llm) => ({
    // `async`, so that what is thrown is a rejection.
    generate: async (request, options) =>
      answer(() => llm.generate(request, options), request, options?.signal),
  });

/** Rejects with something else. */
export const refusal = (bend: (error: LlmError) => unknown): Bend =>
  asking(async (ask) => {
    try {
      return await ask();
    } catch (error) {
      throw error instanceof LlmError ? bend(error) : error;
    }
  });

/** Gives a stream in place of the rejection. */
export const refused = (reply: (error: LlmError) => Iterable<StreamEvent>): Bend =>
  asking(async (ask) => {
    try {
      return await ask();
    } catch (error) {
      return error instanceof LlmError ? streamFrom(() => reply(error)) : throwing(error);
    }
  });

/** The same error, save for some of it. */
export const changed = (error: LlmError, part: object, words = error.message): LlmError => {
  const { httpStatus, retryable, isTimeout } = error;
  return new LlmError(words, error.kind, { httpStatus, retryable, isTimeout, ...part });
};

/** Ends a stream that would throw in another way, torn or aborted. */
const ending = (
  ends: (error: unknown) => boolean,
  end: (error: unknown) => Iterable<StreamEvent>,
): Bend =>
  asking(async (ask) => {
    const stream = await ask();
    return (async function* () {
      try {
        yield* stream;
      } catch (error) {
        if (!ends(error)) throw error;
        yield* end(error);
      }
    })();
  });

export const tear = (end: (error: unknown) => Iterable<StreamEvent>): Bend =>
  ending((error) => error instanceof LlmError, end);

/** Whatever an abort makes it throw, before there is a stream or in it, it does this instead. */
export const abort = (end: () => Iterable<StreamEvent>): Bend => {
  const inStream = ending((error) => !(error instanceof LlmError), end);
  return (llm) => ({
    generate: async (request, options) =>
      options?.signal?.aborted === true
        ? streamFrom(end)
        : inStream(llm).generate(request, options),
  });
};

export const deaf: Bend = (llm) => ({ generate: (request) => llm.generate(request) });

/** Does something with each signal it is given. */
export const hearing =
  (hear: (llm: ArrangedLlm, signal: AbortSignal) => void): Bend =>
  (llm) => ({
    generate: (request, options) => {
      if (options?.signal !== undefined) hear(llm, options.signal);
      return llm.generate(request, options);
    },
  });

type Reader = AsyncIterator<StreamEvent>;

export const ENDED: Promise<IteratorReturnResult<undefined>> = Promise.resolve({
  done: true,
  value: undefined,
});

/** Changes how a reply is read and left. */
export const reading =
  (bend: (inner: Reader) => Partial<Reader>): Bend =>
  (llm) => ({
    generate: async (request, options) => {
      const inner = (await llm.generate(request, options))[Symbol.asyncIterator]();
      const reader: Reader = {
        next: () => inner.next(),
        return: () => inner.return?.() ?? ENDED,
        ...bend(inner),
      };
      return { [Symbol.asyncIterator]: () => reader };
    },
  });

/** The model is never told of an abort; only the reader is let go. */
export const unheardAbort: Bend = (llm) => ({
  generate: (request, options) => {
    const bent = reading((inner) => ({
      next: () => beforeAbort(inner.next(), options?.signal, llm),
    }));
    return bent(llm).generate(request);
  },
});

async function beforeAbort<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  llm: ArrangedLlm,
): Promise<T> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = llm.listen(signal, () => {
      reject(signal.reason as Error);
    });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop();
  }
}

/** Adds up a whole reply before any of it is given. */
export const buffered: Bend = asking(async (ask) => {
  const all: StreamEvent[] = [];
  for await (const event of await ask()) all.push(event);
  return streamOf(...all);
});

export const streamOf = (...all: readonly StreamEvent[]): AsyncGenerator<StreamEvent> =>
  streamFrom(() => all);

/** What making the events throws, the first read throws. */
async function* streamFrom(make: () => Iterable<StreamEvent>): AsyncGenerator<StreamEvent> {
  await Promise.resolve();
  yield* make();
}

export const done = (...content: Content[]): StreamEvent => ({
  kind: 'done',
  message: { role: 'assistant', content, tool_call_id: null },
});

export const throwing = (thrown: unknown): never => {
  throw thrown;
};
