import {
  describeValue,
  type GenerateOptions,
  type Llm,
  type LlmStream,
  type ModelRequest,
  type StreamEvent,
} from '@celestea/core';
import { SpanKind, type Attributes } from '@opentelemetry/api';

import type { CallScope } from './call-scope.ts';
import { inputMessages, outputMessages, systemInstructions } from './content.ts';
import {
  ATTR_GEN_AI_INPUT_MESSAGES,
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_OUTPUT_MESSAGES,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_MAX_TOKENS,
  ATTR_GEN_AI_REQUEST_MODEL,
  ATTR_GEN_AI_REQUEST_STREAM,
  ATTR_GEN_AI_REQUEST_TEMPERATURE,
  ATTR_GEN_AI_SYSTEM_INSTRUCTIONS,
  GEN_AI_OPERATION_NAME_VALUE_CHAT,
} from './names.ts';
import { ReplyNotes } from './reply-notes.ts';
import { asPromise, observe, quietly } from './span.ts';
import { TracedCall } from './traced-call.ts';

/**
 * Asks a model under a span of its own, which lasts until its stream has ended or was closed. The
 * stream brings the same events, and each is waited for in the context of the span.
 */
export function tracedGenerate(
  llm: Llm,
  scope: CallScope,
  request: ModelRequest,
  options: GenerateOptions | undefined,
): Promise<LlmStream> {
  const notes = new ReplyNotes();
  const call = new TracedCall({
    scope,
    name: quietly(() => ['chat', request.model].filter((word) => word !== '').join(' ')) ?? 'chat',
    kind: SpanKind.CLIENT,
    attributes: quietly(() => requestAttributes(scope, request)) ?? {},
    signal: quietly(() => options?.signal),
    cancelled: 'cancelled',
    known: () => replyAttributes(scope, notes),
  });
  const answer = call.run(() => llm.generate(request, options));
  if (!call.isOpen) return answer;
  return Promise.resolve(answer).then(
    (stream) => tracedStream(stream, call, notes),
    (error: unknown) => {
      call.fail(error);
      throw error;
    },
  );
}

function requestAttributes({ tracing }: CallScope, request: ModelRequest): Attributes {
  const { providerName, contentBytes } = tracing;
  const { model, system, messages, max_tokens, temperature } = request;
  const attributes: Attributes = {
    [ATTR_GEN_AI_OPERATION_NAME]: GEN_AI_OPERATION_NAME_VALUE_CHAT,
    [ATTR_GEN_AI_REQUEST_MODEL]: model,
    [ATTR_GEN_AI_REQUEST_STREAM]: true,
  };
  if (providerName !== undefined) attributes[ATTR_GEN_AI_PROVIDER_NAME] = providerName;
  if (max_tokens !== null) attributes[ATTR_GEN_AI_REQUEST_MAX_TOKENS] = max_tokens;
  if (temperature !== null) attributes[ATTR_GEN_AI_REQUEST_TEMPERATURE] = temperature;
  if (contentBytes === null) return attributes;
  attributes[ATTR_GEN_AI_INPUT_MESSAGES] = inputMessages(messages, contentBytes);
  if (system !== null) {
    attributes[ATTR_GEN_AI_SYSTEM_INSTRUCTIONS] = systemInstructions(system, contentBytes);
  }
  return attributes;
}

/** Asked once, when the call ends. */
function replyAttributes(scope: CallScope, notes: ReplyNotes): Attributes {
  const { contentBytes } = scope.tracing;
  const { usage, done } = notes;
  if (usage !== null) scope.addUsage(usage);
  const attributes = notes.attributes();
  if (contentBytes === null || done === null) return attributes;
  const output = quietly(() => outputMessages(done.message, done.finish, contentBytes));
  if (output === undefined) return attributes;
  scope.addOutput(output);
  return { ...attributes, [ATTR_GEN_AI_OUTPUT_MESSAGES]: output };
}

/** What is no stream is handed on for its reader to refuse. */
function tracedStream(stream: LlmStream, call: TracedCall, notes: ReplyNotes): LlmStream {
  if (!call.isOpen) return stream;
  if (quietly(() => typeof stream[Symbol.asyncIterator] === 'function') !== true) {
    const message = `the model returned ${describeValue(stream)} instead of a stream`;
    call.end({ outcome: 'error', errorType: 'malformed', message });
    return stream;
  }
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = call.run(() => stream[Symbol.asyncIterator]());
      const isReadable = quietly(() => typeof iterator.next === 'function') === true;
      if (isReadable) return tracedIterator(iterator, call, notes);
      call.end({ outcome: 'error', errorType: 'malformed' });
      return iterator;
    },
  };
}

/** By hand and not as a generator: an event costs no more than one look at its promise. */
function tracedIterator(
  iterator: AsyncIterator<StreamEvent>,
  call: TracedCall,
  notes: ReplyNotes,
): AsyncIterator<StreamEvent> {
  const onResult = (result: IteratorResult<StreamEvent>): void => {
    quietly(() => {
      if (result.done === true) call.end(notes.end('ended'));
      else notes.take(result.value);
    });
  };
  const onError = (error: unknown): void => {
    call.fail(error);
  };
  const next = (): Promise<IteratorResult<StreamEvent>> => iterator.next();
  const traced: AsyncIterator<StreamEvent> = {
    next: () => {
      const result = call.run(next);
      if (!call.isOpen) return result;
      const settled = asPromise(result);
      if (settled === undefined) return result;
      observe(settled, onResult, onError);
      return settled;
    },
    return: async () => {
      call.end(notes.end('closed'));
      await call.run(() => iterator.return?.());
      return { done: true, value: undefined };
    },
  };
  const inner = quietly(() => iterator.throw?.bind(iterator));
  if (inner === undefined) return traced;
  traced.throw = (error) => {
    call.end(notes.end('closed'));
    return call.run(() => inner(error));
  };
  return traced;
}
