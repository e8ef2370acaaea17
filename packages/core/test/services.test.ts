import { expect, test } from 'vitest';

import {
  AGENT_LOOP_SERVICE,
  Context,
  LLM_REGISTRY_SERVICE,
  LLM_SERVICE,
  LlmRegistry,
  SESSION_LOG_SERVICE,
  TOOL_GUARD_SERVICE,
  TOOL_REGISTRY_SERVICE,
} from '@celestea/core';

test('C5.3 the tokens are these strings', () => {
  expect({
    LLM_SERVICE,
    LLM_REGISTRY_SERVICE,
    SESSION_LOG_SERVICE,
    TOOL_REGISTRY_SERVICE,
    TOOL_GUARD_SERVICE,
    AGENT_LOOP_SERVICE,
  }).toStrictEqual({
    LLM_SERVICE: 'celestea.core.Llm',
    LLM_REGISTRY_SERVICE: 'celestea.core.LlmRegistry',
    SESSION_LOG_SERVICE: 'celestea.core.SessionLog',
    TOOL_REGISTRY_SERVICE: 'celestea.core.ToolRegistry',
    TOOL_GUARD_SERVICE: 'celestea.core.ToolGuard',
    AGENT_LOOP_SERVICE: 'celestea.core.AgentLoop',
  });
});

test('C5.3 a plain string finds what a typed token provided, and the other way round', () => {
  const registry = new LlmRegistry();
  const ctx = Context.root().provide(LLM_REGISTRY_SERVICE, registry);
  expect(ctx.get<LlmRegistry>('celestea.core.LlmRegistry')).toBe(registry);
  const other = new LlmRegistry();
  ctx.provide('celestea.core.LlmRegistry', other);
  expect(ctx.require(LLM_REGISTRY_SERVICE)).toBe(other);
});
