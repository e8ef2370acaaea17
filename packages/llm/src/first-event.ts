import {
  describeValue,
  isRecord,
  type GenerateOptions,
  type Llm,
  type LlmStream,
  type ModelFailureKind,
  type ModelRequest,
  type StreamEvent,
} from '@celestea/core';

/** How a model failed before it told anything: by a throw, by `failed`, by an empty reply. */
export type EarlyFailure =
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'failed'; readonly kindOf: ModelFailureKind; readonly message: string }
  | { readonly kind: 'empty' };

/** A reply, read up to its first event. */
export interface OpenedReply {
  /** `null` when the first event was any other than `failed`. */
  readonly failure: EarlyFailure | null;
  /**
   * What the model itself gave: the stream with its first event still to be read, or the
   * rejection. So a failure that stands reaches the reader where it happened.
   */
  readonly reply: Promise<LlmStream>;
}

/**
 * Asks a model and waits for the first event of its reply, so that another try is still
 * possible when there is none. Rejects with the signal's reason, and for nothing else: at once
 * when the signal aborts meanwhile, whatever the model does, and what it had opened is closed.
 * A signal that aborted before is the model's own to answer.
 */
export async function openReply(
  llm: Llm,
  request: ModelRequest,
  options: GenerateOptions | undefined,
): Promise<OpenedReply> {
  const signal = options?.signal;
  const watched = signal?.aborted === true ? undefined : signal;
  const reply = start(() => llm.generate(request, options));
  const iterating = reply.then(iterate);
  try {
    const begun = await settled(iterating, watched);
    if (begun.status === 'rejected') return opened(signal, threw(begun.reason), reply);
    const iterator = begun.value;
    const first = start(() => iterator.next());
    const read = await settled(first.then(failureOf), watched);
    const failure = read.status === 'rejected' ? threw(read.reason) : read.value;
    return opened(signal, failure, Promise.resolve(resumed(iterator, first)));
  } catch (reason) {
    iterating.then(closeIterator, ignore);
    throw reason;
  }
}

/** Closes a reply that nobody will read, whenever it comes; what that throws is ignored. */
export function closeReply(reply: Promise<LlmStream>): void {
  reply.then(iterate).then(closeIterator, ignore);
}

/** `async`, so that a throw becomes a rejection and what is no promise becomes one. */
const start = async <T>(work: () => Promise<T>): Promise<T> => work();

const threw = (error: unknown): EarlyFailure => ({ kind: 'threw', error });

/** A failure after an abort is the abort's, whatever words the model found for it. */
function opened(
  signal: AbortSignal | undefined,
  failure: EarlyFailure | null,
  reply: Promise<LlmStream>,
): OpenedReply {
  if (failure !== null) signal?.throwIfAborted();
  return { failure, reply };
}

function iterate(stream: LlmStream): AsyncIterator<StreamEvent> {
  const given: unknown = stream;
  if (isRecord(given) && Symbol.asyncIterator in given) return stream[Symbol.asyncIterator]();
  throw new TypeError(`the model returned ${describeValue(given)} instead of a stream`);
}

/** A first event of an unknown kind, or of none, is left to the reader to judge. */
function failureOf(result: IteratorResult<StreamEvent, unknown>): EarlyFailure | null {
  const given: unknown = result;
  if (!isRecord(given)) {
    throw new TypeError(`the stream gave ${describeValue(given)} instead of an iterator result`);
  }
  if (result.done === true) return { kind: 'empty' };
  const { value } = result;
  if (!isRecord(value) || value.kind !== 'failed') return null;
  return { kind: 'failed', kindOf: value.kindOf, message: value.message };
}

/** How the work ends; rejects with the signal's reason when it aborts before that is told. */
async function settled<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<PromiseSettledResult<T>> {
  const ended = Promise.allSettled([work] as const);
  if (signal === undefined) return (await ended)[0];
  let onAbort = ignore;
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve;
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) resolve();
  });
  try {
    await Promise.race([aborted, ended]);
    signal.throwIfAborted();
    return (await ended)[0];
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The rest of a stream whose first read was done ahead of the reader. */
function resumed(
  iterator: AsyncIterator<StreamEvent>,
  first: Promise<IteratorResult<StreamEvent>>,
): LlmStream {
  let held: typeof first | null = first;
  const reader: AsyncIterator<StreamEvent> = {
    next: () => {
      const result = held ?? iterator.next();
      held = null;
      return result;
    },
    return: async () => {
      held = null;
      await iterator.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => reader };
}

/** Not to be awaited: a `return()` may never settle. */
async function closeIterator(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // a stream that cannot be closed is left to itself
  }
}

function ignore(): void {
  // nothing
}
