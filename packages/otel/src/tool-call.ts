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
import {
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_TOOL_CALL_ARGUMENTS,
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_CALL_RESULT,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_GEN_AI_TOOL_TYPE,
  GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL,
} from './names.ts';
import { asPromise, observe, quietly } from './span.ts';
import { TracedCall, type CallEnd } from './traced-call.ts';

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
  const name = quietly(() => knownName(tools, scope, input));
  const call = new TracedCall({
    scope,
    name: ['execute_tool', name].filter((word) => word !== undefined).join(' '),
    kind: SpanKind.INTERNAL,
    attributes: quietly(() => callAttributes(scope, input, name)) ?? {},
    signal: quietly(() => options?.signal),
    cancelled: 'abandoned',
    known: () => result,
  });
  const answer = call.run(() => tools.dispatch(input, options));
  if (!call.isOpen) return answer;
  // a registry may give anything
  const answered = asPromise(answer);
  if (answered === undefined) return answer;
  observe(
    answered,
    (output) => {
      const end = endOf(output);
      if (contentBytes !== null && end.outcome === 'completed') {
        const value = quietly(() => output.value);
        result = { [ATTR_GEN_AI_TOOL_CALL_RESULT]: boundedJson(value, contentBytes) };
      }
      call.end(end);
    },
    (error) => {
      call.fail(error);
    },
  );
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
    [ATTR_GEN_AI_OPERATION_NAME]: GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL,
    [ATTR_GEN_AI_TOOL_TYPE]: 'function',
    ...(isCallId(call_id) ? { [ATTR_GEN_AI_TOOL_CALL_ID]: call_id } : {}),
    ...(name === undefined ? {} : { [ATTR_GEN_AI_TOOL_NAME]: name }),
    ...(contentBytes === null
      ? {}
      : { [ATTR_GEN_AI_TOOL_CALL_ARGUMENTS]: toolArguments(args, contentBytes) }),
  };
}

const isCallId = (id: unknown): boolean => typeof id === 'string' && CALL_ID.test(id);

function endOf(output: unknown): CallEnd {
  return quietly(() => readEnd(output)) ?? { outcome: 'error', errorType: 'malformed' };
}

function readEnd(output: unknown): CallEnd | undefined {
  if (!isRecord(output)) return undefined;
  const { error, decision } = output;
  if (error === null || error === undefined) return { outcome: 'completed' };
  const message = typeof error === 'string' ? error : undefined;
  const verdict = isRecord(decision) ? decision['kind'] : undefined;
  return verdict === 'deny' || verdict === 'ask'
    ? { outcome: 'denied', errorType: 'denied', message }
    : { outcome: 'error', errorType: 'tool_error', message };
}
