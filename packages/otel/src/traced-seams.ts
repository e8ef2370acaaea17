import { expectThat, isRecord, type Llm, type ToolRegistry } from '@celestea/core';

import { looseScope, type CallScope } from './call-scope.ts';
import { tracedGenerate } from './model-call.ts';
import { readOptions, type CallTraceOptions } from './options.ts';
import { quietly } from './span.ts';
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

/** The model of a turn; what cannot be one stays as it is. */
export function llmOfTurn(service: unknown, turn: TurnTrace): unknown {
  return isService(service) ? llmIn(innermost(service) as Llm, turn) : service;
}

/** The tools of a turn, which are asked for their schemas once a step, at its beginning. */
export function toolsOfTurn(service: unknown, turn: TurnTrace): unknown {
  if (!isService(service)) return service;
  const tools = innermost(service) as ToolRegistry;
  const schemas: ToolRegistry['schemas'] = () => {
    turn.startStep();
    return tools.schemas();
  };
  return { ...toolsIn(tools, turn), schemas };
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
  quietly(() => isRecord(value) && !(value instanceof Promise)) === true;

const hasMethods = (value: unknown, ...names: string[]): boolean =>
  quietly(
    () => isRecord(value) && names.every((name) => typeof value[name] === 'function'),
  ) === true;
