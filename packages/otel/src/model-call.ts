import {
  describeValue,
  isRecord,
  type GenerateOptions,
  type Llm,
  type LlmStream,
  type ModelRequest,
  type StreamEvent,
} from '@celestea/core';
import { SpanKind, type Attributes } from '@opentelemetry/api';

import type { CallScope } from './call-scope.ts';
import { inputMessages, outputMessages, systemInstructions } from './content.ts';
import { ReplyNotes } from './reply-notes.ts';
import { MALFORMED, TracedCall } from './traced-call.ts';

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
    name: `chat ${request.model}`.trimEnd(),
    kind: SpanKind.CLIENT,
    attributes: () => requestAttributes(scope, request),
    signal: options?.signal,
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
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerName,
    'gen_ai.request.model': model,
    'gen_ai.request.stream': true,
    'gen_ai.request.max_tokens': max_tokens ?? undefined,
    'gen_ai.request.temperature': temperature ?? undefined,
  };
  if (contentBytes === null) return attributes;
  attributes['gen_ai.input.messages'] = inputMessages(messages, contentBytes);
  if (system !== null) {
    attributes['gen_ai.system_instructions'] = systemInstructions(system, contentBytes);
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
  const output = outputMessages(done.message, done.finish, contentBytes);
  scope.addOutput(output);
  return { ...attributes, 'gen_ai.output.messages': output };
}

/** What is no stream is handed on for its reader to refuse. */
function tracedStream(stream: LlmStream, call: TracedCall, notes: ReplyNotes): LlmStream {
  if (!call.isOpen) return stream;
  const given = stream as Partial<LlmStream> | null | undefined;
  if (typeof given?.[Symbol.asyncIterator] !== 'function') {
    const message = `the model returned ${describeValue(stream)} instead of a stream`;
    call.end({ ...MALFORMED, message });
    return stream;
  }
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = call.run(() => stream[Symbol.asyncIterator]());
      const came: unknown = iterator;
      const isOne = isRecord(came) && typeof came['next'] === 'function';
      if (isOne) return tracedIterator(iterator, call, notes);
      call.end(MALFORMED);
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
    if (result.done === true) call.end(notes.end('ended'));
    else notes.take(result.value);
  };
  const onError = (error: unknown): void => {
    call.fail(error);
  };
  const next = (): Promise<IteratorResult<StreamEvent>> => iterator.next();
  return {
    next: () => {
      const result = call.run(next);
      if (!call.isOpen) return result;
      const settled = Promise.resolve(result);
      settled.then(onResult).catch(onError);
      return settled;
    },
    return: async () => {
      call.end(notes.end('closed'));
      await call.run(() => iterator.return?.());
      return { done: true, value: undefined };
    },
  };
}
