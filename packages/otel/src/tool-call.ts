import {
  isRecord,
  type ToolCallOptions,
  type ToolInput,
  type ToolOutput,
  type ToolRegistry,
} from '@celestea/core';
import { SpanKind, type Attributes } from '@opentelemetry/api';

import type { CallScope } from './call-scope.ts';
import { toolArguments } from './content.ts';
import { boundedJson, boundedText } from './content-text.ts';
import { MALFORMED, TracedCall, type CallEnd } from './traced-call.ts';

const MAX_NAME_BYTES = 256;

/** Some servers let the model write the id: what does not look like one may hold its words. */
const CALL_ID = /^[\w.:-]{1,128}$/;

/** Dispatches a call under a span of its own. What comes of it is handed on as it is. */
export function tracedDispatch(
  tools: ToolRegistry,
  scope: CallScope,
  input: ToolInput,
  options: ToolCallOptions | undefined,
): Promise<ToolOutput> {
  const { contentBytes } = scope.tracing;
  let result: Attributes = {};
  const name = knownName(tools, scope, input);
  const call = new TracedCall({
    scope,
    name: `execute_tool ${name ?? ''}`.trimEnd(),
    kind: SpanKind.INTERNAL,
    attributes: () => callAttributes(scope, input, name),
    signal: options?.signal,
    cancelled: 'abandoned',
    known: () => result,
  });
  const answer = call.run(() => tools.dispatch(input, options));
  if (!call.isOpen) return answer;
  const answered = Promise.resolve(answer);
  const onOutput = (output: ToolOutput): void => {
    const end = endOf(output);
    if (contentBytes !== null && end.outcome === 'completed') {
      result = { 'gen_ai.tool.call.result': boundedJson(output.value, contentBytes) };
    }
    call.end(end);
  };
  answered.then(onOutput).catch((error: unknown) => {
    call.fail(error);
  });
  return answered;
}

/**
 * The name of the tool. One that no tool has is a text that the model made up: it is content.
 */
function knownName(tools: ToolRegistry, scope: CallScope, { name }: ToolInput): string | undefined {
  const isKnown = scope.tracing.contentBytes !== null || tools.get(name) !== undefined;
  return isKnown && name !== '' ? boundedText(name, MAX_NAME_BYTES) : undefined;
}

function callAttributes(
  { tracing: { contentBytes } }: CallScope,
  { call_id, args }: ToolInput,
  name: string | undefined,
): Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': CALL_ID.test(call_id) ? call_id : undefined,
    ...(contentBytes !== null && {
      'gen_ai.tool.call.arguments': toolArguments(args, contentBytes),
    }),
  };
}

function endOf(output: unknown): CallEnd {
  if (!isRecord(output)) return MALFORMED;
  const { error, decision } = output;
  if (error === null || error === undefined) return { outcome: 'completed' };
  const message = typeof error === 'string' ? error : undefined;
  const verdict = isRecord(decision) ? decision['kind'] : undefined;
  return verdict === 'deny' || verdict === 'ask'
    ? { outcome: 'denied', errorType: 'denied', message }
    : { outcome: 'error', errorType: 'tool_error', message };
}
