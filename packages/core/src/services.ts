import type { AgentLoop } from './agent.ts';
import { serviceToken, type ServiceToken } from './context.ts';
import type { LlmRegistry } from './llm-registry.ts';
import type { Llm } from './model.ts';
import type { SessionLog } from './session-log.ts';
import type { ToolGuard, ToolRegistry } from './tool.ts';

// pure: a bundler may leave out those that nobody uses
export const LLM_SERVICE: ServiceToken<Llm> = /* @__PURE__ */ serviceToken('celestea.core.Llm');
export const LLM_REGISTRY_SERVICE: ServiceToken<LlmRegistry> = /* @__PURE__ */ serviceToken(
  'celestea.core.LlmRegistry',
);
export const SESSION_LOG_SERVICE: ServiceToken<SessionLog> = /* @__PURE__ */ serviceToken(
  'celestea.core.SessionLog',
);
export const TOOL_REGISTRY_SERVICE: ServiceToken<ToolRegistry> = /* @__PURE__ */ serviceToken(
  'celestea.core.ToolRegistry',
);
export const TOOL_GUARD_SERVICE: ServiceToken<ToolGuard> = /* @__PURE__ */ serviceToken('celestea.core.ToolGuard');
export const AGENT_LOOP_SERVICE: ServiceToken<AgentLoop> = /* @__PURE__ */ serviceToken('celestea.core.AgentLoop');
