import {
  expectThat,
  isRecord,
  LLM_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type Context,
  type Llm,
  type ToolRegistry,
} from '@celestea/core';

import { looseScope, type CallScope } from './call-scope.ts';
import { tracedGenerate } from './model-call.ts';
import { readOptions, type CallTraceOptions } from './options.ts';
import { tracedDispatch } from './tool-call.ts';
import type { TurnTrace } from './turn-trace.ts';

/** What stands behind a traced seam: a turn traces it anew instead of a second time. */
const behind = new WeakMap<object, unknown>();

/**
 * The same model, each request under a `chat` span: a child of what is active when it is made. It
 * ends with the stream, when its reader leaves, or when the signal of the request aborts. For
 * models that are asked outside a traced loop; {@link traceLoop} does this for the model of a turn.
 *
 * @throws TypeError when it is no model, or naming the option that is not what it has to be.
 */
export function tracedLlm(llm: Llm, options: CallTraceOptions = {}): Llm {
  expectThat(hasMethods(llm, 'generate'), 'llm', 'a model with generate', llm);
  const traced = llmIn(llm, looseScope(readOptions(options)));
  behind.set(traced, llm);
  return traced;
}

/**
 * The same tools, each call under an `execute_tool` span: a child of what is active when it is
 * dispatched. Hand it to tools that call others, and their calls become children of the call that
 * makes them.
 *
 * @throws TypeError when it is no registry, or naming the option that is not what it has to be.
 */
export function tracedTools(tools: ToolRegistry, options: CallTraceOptions = {}): ToolRegistry {
  const fits = hasMethods(tools, 'register', 'addGuard', 'get', 'schemas', 'dispatch');
  expectThat(fits, 'tools', 'a ToolRegistry', tools);
  const traced = toolsIn(tools, looseScope(readOptions(options)));
  behind.set(traced, tools);
  return traced;
}

/**
 * A scope with the model and the tools of a turn traced. What is missing or is no service stays
 * as it is, for the loop to refuse.
 */
export function tracedScope(ctx: Context, turn: TurnTrace): Context {
  const scope = ctx.scoped();
  const llm: unknown = ctx.get(LLM_SERVICE);
  const tools: unknown = ctx.get(TOOL_REGISTRY_SERVICE);
  if (isService(llm)) scope.provide(LLM_SERVICE, llmIn(innermost(llm) as Llm, turn));
  if (!isService(tools)) return scope;
  const inner = innermost(tools) as ToolRegistry;
  const schemas: ToolRegistry['schemas'] = () => {
    turn.startStep(); // they are asked for once a step, at its beginning
    return inner.schemas();
  };
  return scope.provide(TOOL_REGISTRY_SERVICE, { ...toolsIn(inner, turn), schemas });
}

function llmIn(llm: Llm, scope: CallScope): Llm {
  return { generate: (request, options) => tracedGenerate(llm, scope, request, options) };
}

function toolsIn(tools: ToolRegistry, scope: CallScope): ToolRegistry {
  return {
    register: (tool) => {
      tools.register(tool);
    },
    addGuard: (guard) => {
      tools.addGuard(guard);
    },
    get: (name) => tools.get(name),
    schemas: () => tools.schemas(),
    dispatch: (input, options) => tracedDispatch(tools, scope, input, options),
  };
}

function innermost(service: object): unknown {
  return behind.get(service) ?? service;
}

const isService = (value: unknown): value is object =>
  isRecord(value) && !(value instanceof Promise);

const hasMethods = (value: unknown, ...names: string[]): boolean =>
  isRecord(value) && names.every((name) => typeof value[name] === 'function');
