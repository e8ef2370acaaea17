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

import { ignore } from './hook.ts';

/** How a model failed before it told anything: by a throw, by `failed`, by an empty reply. */
export type EarlyFailure =
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'failed'; readonly kindOf: ModelFailureKind; readonly message: string }
  | { readonly kind: 'empty' };

/** What a model said that a request cost. */
export type UsageEvent = Extract<StreamEvent, { kind: 'usage' }>;

/** A reply, read up to its first event that tells something of it. */
export interface OpenedReply {
  /** `null` when that event was any other than `failed`. */
  readonly failure: EarlyFailure | null;
  /** What this try and those before it cost. It is told by `reply`, and by nothing else. */
  readonly spent: readonly UsageEvent[];
  /**
   * What the model itself gave, with its first events still to be read: the stream, or the
   * rejection. So a failure that stands reaches the reader where it happened.
   */
  readonly reply: Promise<LlmStream>;
}

/**
 * Asks a model and waits for the first event of its reply, so that another try is still
 * possible when there is none. What the request cost is no part of a reply: `usage` is held
 * back, and told with the reply that stands. Rejects with the signal's reason, and for nothing
 * else: at once when the signal aborts, whatever the model does, and what it had opened is
 * closed. A signal that aborted before keeps the model from being asked.
 *
 * @param before what earlier tries of this request cost
 */
export async function openReply(
  llm: Llm,
  request: ModelRequest,
  options: GenerateOptions | undefined,
  before: readonly UsageEvent[] = [],
): Promise<OpenedReply> {
  const signal = options?.signal;
  signal?.throwIfAborted();
  const reply = start(() => llm.generate(request, options));
  const iterating = reply.then(iterate);
  try {
    const begun = await settled(iterating, signal);
    if (begun.status === 'rejected') {
      signal?.throwIfAborted();
      return { failure: threw(begun.reason), spent: before, reply: withSpent(before, reply) };
    }
    return await openStream(begun.value, signal, before);
  } catch (reason) {
    iterating.then(closeIterator, ignore);
    throw reason;
  }
}

async function openStream(
  iterator: AsyncIterator<StreamEvent>,
  signal: AbortSignal | undefined,
  before: readonly UsageEvent[],
): Promise<OpenedReply> {
  const spent = [...before];
  for (;;) {
    const first = start(() => iterator.next());
    const read = await settled(first.then(usageOrFailure), signal);
    const failure = read.status === 'rejected' ? threw(read.reason) : read.value;
    if (failure?.kind === 'usage') {
      spent.push(failure);
      continue;
    }
    // a failure after an abort is the abort's, whatever words the model found for it
    if (failure !== null) signal?.throwIfAborted();
    return { failure, spent, reply: Promise.resolve(resumed(spent, first, iterator)) };
  }
}

/** A rejection that stands, behind what the tries before it cost. */
function withSpent(
  spent: readonly UsageEvent[],
  reply: Promise<LlmStream>,
): Promise<LlmStream> {
  if (spent.length === 0) return reply;
  const failing = reply.then(iterate).then((iterator) => iterator.next());
  failing.catch(ignore); // until it is read
  const none: AsyncIterator<StreamEvent> = { next: () => failing };
  return Promise.resolve(resumed(spent, failing, none));
}

/** Closes a reply that nobody will read, whenever it comes; what that throws is ignored. */
export function closeReply(reply: Promise<LlmStream>): void {
  reply.then(iterate).then(closeIterator, ignore);
}

/** `async`, so that a throw becomes a rejection and what is no promise becomes one. */
const start = async <T>(work: () => Promise<T>): Promise<T> => work();

const threw = (error: unknown): EarlyFailure => ({ kind: 'threw', error });

function iterate(stream: LlmStream): AsyncIterator<StreamEvent> {
  const given: unknown = stream;
  if (isRecord(given) && Symbol.asyncIterator in given) return stream[Symbol.asyncIterator]();
  throw new TypeError(`the model returned ${describeValue(given)} instead of a stream`);
}

/** An event of an unknown kind, or of none, is left to the reader to judge. */
function usageOrFailure(
  result: IteratorResult<StreamEvent, unknown>,
): UsageEvent | EarlyFailure | null {
  const given: unknown = result;
  if (!isRecord(given)) {
    throw new TypeError(`the stream gave ${describeValue(given)} instead of an iterator result`);
  }
  if (result.done === true) return { kind: 'empty' };
  const { value } = result;
  if (!isRecord(value)) return null;
  if (value.kind === 'usage') return value;
  if (value.kind !== 'failed') return null;
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

/** What was spent, and the rest of a stream whose first read was done ahead of the reader. */
function resumed(
  spent: readonly UsageEvent[],
  first: Promise<IteratorResult<StreamEvent>>,
  iterator: AsyncIterator<StreamEvent>,
): LlmStream {
  const told = spent.map((value) => Promise.resolve({ done: false as const, value }));
  let held: Promise<IteratorResult<StreamEvent>>[] = [...told, first];
  const reader: AsyncIterator<StreamEvent> = {
    next: () => held.shift() ?? iterator.next(),
    return: async () => {
      held = [];
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
