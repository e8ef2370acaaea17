import { userMessage } from '../message.ts';
import type { GenerateOptions, Llm, LlmStream, ModelRequest, StreamEvent } from '../model.ts';
import { describeValue, isRecord } from '../shape.ts';
import type { ToolSpec } from '../tool.ts';
import type { ContractAssert } from './framework.ts';
import type { LlmContractAnswer, LlmContractReply, LlmScenario } from './llm-replies.ts';

export interface HeldLlm {
  readonly llm: Llm;
  /** A copy of the test's own. */
  readonly request: ModelRequest;
  readonly replies: readonly LlmContractReply[];
  /** Settles once a request is with the model. */
  readonly reached: () => Promise<unknown>;
  /** Settles once the model is let go. */
  readonly released: () => Promise<unknown>;
  readonly assert: ContractAssert;
}

export interface LlmTest {
  readonly scenario: LlmScenario;
  readonly title: string;
  readonly run: (held: HeldLlm) => Promise<void>;
}

const toolSpec = (name: string, ...texts: readonly string[]): ToolSpec => ({
  name,
  description: `Does ${name}.`,
  parameters: {
    type: 'object',
    properties: Object.fromEntries(texts.map((text) => [text, { type: 'string' }])),
    required: texts,
  },
});

/** A new request with a little of everything. */
export const contractRequest = (): ModelRequest => ({
  model: 'contract-model',
  system: 'You are asked by a test.',
  messages: [userMessage('What is in this folder?')],
  tools: [
    toolSpec('read_file', 'path'),
    toolSpec('list_files'),
    toolSpec('write_file', 'path', 'text'),
  ],
  max_tokens: 256,
  temperature: null,
});

/** What one request came to: its events, and what `generate` or the iteration threw. */
export interface Heard {
  readonly events: readonly StreamEvent[];
  readonly failure: { readonly error: unknown } | null;
}

/** A reply that goes on for so long never ends. */
const MOST_EVENTS = 1000;

/** Asks and reads to the end; never rejects. */
export async function hear(
  llm: Llm,
  request: ModelRequest,
  options?: GenerateOptions,
): Promise<Heard> {
  try {
    return await hearStream(await ask(llm, request, options));
  } catch (error) {
    return { events: [], failure: { error } };
  }
}

/** Without options the second argument is left out, as most callers do. */
const ask = (
  llm: Llm,
  request: ModelRequest,
  options?: GenerateOptions,
): Promise<LlmStream> =>
  options === undefined ? llm.generate(request) : llm.generate(request, options);

/** Reads to the end; never rejects. */
async function hearStream(stream: LlmStream): Promise<Heard> {
  const events: StreamEvent[] = [];
  try {
    for await (const event of stream) {
      events.push(event);
      if (events.length > MOST_EVENTS) throw new Error('the reply does not end');
    }
  } catch (error) {
    return { events, failure: { error } };
  }
  return { events, failure: null };
}

/** What is left of a stream that is being read. */
export const hearRest = (reader: AsyncIterator<StreamEvent>): Promise<Heard> =>
  hearStream({ [Symbol.asyncIterator]: () => reader });

/** Asks, and reads as far as the first words or thoughts. */
export async function begin(
  { llm, request }: Pick<HeldLlm, 'llm' | 'request'>,
  options?: GenerateOptions,
): Promise<AsyncIterator<StreamEvent>> {
  const reader = (await ask(llm, request, options))[Symbol.asyncIterator]();
  for (;;) {
    const next = await reader.next();
    if (next.done === true) throw new Error('the reply ends before it begins');
    if (next.value.kind === 'text' || next.value.kind === 'thinking') return reader;
  }
}

/** The events of a reply that is to succeed. */
export async function wholeReply(
  { llm, request }: Pick<HeldLlm, 'llm' | 'request'>,
  options?: GenerateOptions,
): Promise<readonly StreamEvent[]> {
  const { events, failure } = await hear(llm, request, options);
  if (failure !== null) throw new Error(`the reply fails: ${saidBy(failure.error)}`);
  return events;
}

/** A reply that was arranged as one that is done. */
export function arranged(replies: readonly LlmContractReply[], index = 0): LlmContractAnswer {
  const reply = replies[index];
  if (reply?.ends === 'done') return reply;
  const came = reply === undefined ? 'none' : JSON.stringify(reply.ends);
  throw new TypeError(`replies[${String(index)}]: expected one that ends "done", got ${came}`);
}

/** The words of a reply, as they were streamed. */
export const wordsOf = (events: readonly StreamEvent[]): string =>
  events.map((event) => (event.kind === 'text' ? event.text : '')).join('');

export const arrangedWords = ({ pieces }: { readonly pieces: readonly string[] }): string =>
  pieces.join('');

type DoneEvent = Extract<StreamEvent, { kind: 'done' }>;

export function doneOf(events: readonly StreamEvent[]): DoneEvent {
  for (const event of events) if (event.kind === 'done') return event;
  throw new Error(`there is no done among ${kindsOf(events)}`);
}

export const hasDone = (events: readonly StreamEvent[]): boolean =>
  events.some(({ kind }) => kind === 'done');

export const kindsOf = (events: readonly StreamEvent[]): string =>
  `[${events.map(({ kind }) => kind).join(', ')}]`;

/** A failure for the message of an assertion. */
export const saidBy = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : describeValue(error);

/** A reason for people has words, and none that a value leaves which has none. */
export function assertTells(assert: ContractAssert, reason: unknown): void {
  const words = typeof reason === 'string' ? reason.trim() : '';
  const silent = ['', 'undefined', 'null'].includes(words) || words.includes('[object ');
  assert.ok(!silent, `the reason is ${describeValue(reason)}`);
}

/** Freezes a JSON value to its leaves. */
export function deepFreeze<T>(value: T): T {
  if (isRecord(value) || Array.isArray(value)) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
