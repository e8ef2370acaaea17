import { expectTypeOf, test } from 'vitest';

import {
  AGENT_LOOP_SERVICE,
  Context,
  LLM_REGISTRY_SERVICE,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_GUARD_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type AgentLoop,
  type Llm,
  type LlmRegistry,
  type SessionLog,
  type ToolGuard,
  type ToolRegistry,
} from '@celestea/core';

class Clock {
  now(): number {
    return 0;
  }
}

test('C5.3 tokens carry their type, and a plain string works with a type argument', () => {
  const ctx = Context.root();
  expectTypeOf(ctx.get(LLM_SERVICE)).toEqualTypeOf<Llm | undefined>();
  expectTypeOf(ctx.get(LLM_REGISTRY_SERVICE)).toEqualTypeOf<LlmRegistry | undefined>();
  expectTypeOf(ctx.get(SESSION_LOG_SERVICE)).toEqualTypeOf<SessionLog | undefined>();
  expectTypeOf(ctx.get(TOOL_REGISTRY_SERVICE)).toEqualTypeOf<ToolRegistry | undefined>();
  expectTypeOf(ctx.get(TOOL_GUARD_SERVICE)).toEqualTypeOf<ToolGuard | undefined>();
  expectTypeOf(ctx.get(AGENT_LOOP_SERVICE)).toEqualTypeOf<AgentLoop | undefined>();
  expectTypeOf(ctx.get<Clock>('clock')).toEqualTypeOf<Clock | undefined>();
  expectTypeOf(ctx.get('clock')).toEqualTypeOf<unknown>();
  expectTypeOf(ctx.get(Symbol('clock'))).toEqualTypeOf<unknown>();
  expectTypeOf(ctx.get(Clock)).toEqualTypeOf<Clock | undefined>();
});

test('C5.1 C5.3 require gives the service itself, and scopes are scopes', () => {
  const ctx = Context.root().provide(Clock, new Clock()).provide('clock', new Clock());
  expectTypeOf(ctx).toEqualTypeOf<Context>();
  expectTypeOf(ctx.scoped()).toEqualTypeOf<Context>();
  expectTypeOf(ctx.require(Clock)).toEqualTypeOf<Clock>();
  expectTypeOf(ctx.require<Clock>('clock')).toEqualTypeOf<Clock>();
  expectTypeOf(() => ctx.require(LLM_SERVICE)).returns.toEqualTypeOf<Llm>();
  expectTypeOf(ctx.has(LLM_SERVICE)).toEqualTypeOf<boolean>();
});
