import { estimateMessageTokens, estimateTokens } from '@celestea/agent-loop';
import {
  serdeJsonString,
  type AgentConfig,
  type ModelRequest,
  type Role,
  type ToolSpec,
} from '@celestea/core';

/** What a request takes by its parts, in tokens; estimates, as those that decide what is cut. */
export interface ContextTokens {
  /** The system prompt. */
  readonly system: number;
  readonly messages: Readonly<Record<Role, number>>;
  /** What the model is told of the tools. No budget counts them. */
  readonly tools: number;
  /** All of these. */
  readonly total: number;
}

/** What the next request would be. */
export interface ContextReport {
  readonly request: ModelRequest;
  readonly tokens: ContextTokens;
  /** Tokens of the model's window; 0 when it is not known, and nothing is cut then. */
  readonly window: number;
  /** Tokens that system prompt and messages may take; `null` without a window. */
  readonly budget: number | null;
}

/** Tells of a request made for this configuration. */
export function reportContext(
  request: ModelRequest,
  config: Readonly<AgentConfig>,
): ContextReport {
  const window = config.context_window_tokens > 0 ? config.context_window_tokens : 0;
  return { request, tokens: countTokens(request), window, budget: budgetOf(window, config) };
}

/** The tokens of a request by its parts. */
export function countTokens({ system, messages, tools }: ModelRequest): ContextTokens {
  const byRole: Record<Role, number> = { system: 0, user: 0, assistant: 0, tool: 0 };
  for (const message of messages) byRole[message.role] += estimateMessageTokens(message);
  const parts = {
    system: estimateTokens(system ?? ''),
    tools: tools.reduce((sum, tool) => sum + toolTokens(tool), 0),
  };
  const spoken = Object.values(byRole).reduce((sum, tokens) => sum + tokens, 0);
  return { ...parts, messages: byRole, total: parts.system + parts.tools + spoken };
}

const toolTokens = (tool: ToolSpec): number => estimateTokens(serdeJsonString(tool));

/** As the loop clamps the threshold (L5.3). */
function budgetOf(window: number, { context_trim_threshold: threshold }: AgentConfig): number | null {
  if (window === 0) return null;
  const share = Number.isNaN(threshold) ? 1 : Math.min(1, Math.max(0, threshold));
  return Math.floor(window * share) || 1;
}
