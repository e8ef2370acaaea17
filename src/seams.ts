import {
  AgentError,
  expectThat,
  isRecord,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type Context,
  type Llm,
  type ServiceToken,
  type SessionLog,
  type ToolRegistry,
} from '@celestea/core';

import { unheard } from './cancel.ts';
import { resolveRetention, type ToolResultRetention } from './retention.ts';

/** The collaborators of a turn. */
export interface Seams {
  readonly llm: Llm;
  readonly log: SessionLog;
  readonly tools: ToolRegistry;
  /** Bounds the tools' results, where a scope has one. */
  readonly retention: ToolResultRetention | null;
}

/** Finds them in the scope; an `AgentError` names the first that is missing (L2.1). */
export function resolveSeams(ctx: Context): Seams {
  requireContext(ctx);
  return {
    llm: seam(ctx, LLM_SERVICE, 'LlmService in context'),
    log: sessionLog(ctx),
    tools: toolRegistry(ctx),
    retention: resolveRetention(ctx),
  };
}

export function sessionLog(ctx: Context): SessionLog {
  return seam(ctx, SESSION_LOG_SERVICE, 'SessionLog service in context');
}

export function toolRegistry(ctx: Context): ToolRegistry {
  return seam(ctx, TOOL_REGISTRY_SERVICE, 'ToolRegistryService in context');
}

/** For callers without types. */
function requireContext(ctx: unknown): void {
  const fits = isRecord(ctx) && typeof ctx['get'] === 'function';
  expectThat(fits, 'ctx', 'a Context', ctx);
}

function seam<T>(ctx: Context, token: ServiceToken<T>, what: string): T {
  const service = ctx.get(token);
  if (service === undefined || service === null) throw new AgentError(`missing ${what}`);
  unheard(service);
  const fits = typeof service === 'object' && !(service instanceof Promise);
  expectThat(fits, what, 'an object', service);
  return service;
}

/** What a seam has to answer at once: a list. A promise of one is refused too. */
export function requireArray<T>(what: string, value: T): T {
  unheard(value);
  expectThat(Array.isArray(value), what, 'an array', value);
  return value;
}
