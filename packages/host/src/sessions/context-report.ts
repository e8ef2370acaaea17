import {
  estimateMessageTokens,
  estimateTokens,
  fitContext,
  type ContextPolicy,
} from '@celestea/agent-loop';
import {
  serdeJsonString,
  type AgentConfig,
  type ModelRequest,
  type Role,
  type ToolSpec,
} from '@celestea/core';

import type { WireContext } from '../wire.ts';

/** Tells of a request made for this configuration. What only a provider understands is in it. */
export function reportContext(request: ModelRequest, config: Readonly<AgentConfig>): WireContext {
  const { system, messages, tools } = request;
  const window = config.context_window_tokens > 0 ? config.context_window_tokens : 0;
  const budget = budgetOf(window, config);
  return { request: { system, messages, tools }, tokens: countTokens(request), window, budget };
}

/** The tokens of a request by its parts. */
export function countTokens({ system, messages, tools }: ModelRequest): WireContext['tokens'] {
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

/** What was cut of a request so that it fits. */
interface Cut {
  readonly removed_messages: number;
  readonly removed_tokens: number;
}

/** The loop's own policy, which tells of what it cut: once, and again when it cuts otherwise. */
export function tellingCuts(tell: (cut: Cut) => void): ContextPolicy {
  let told = '';
  return ({ messages, systemTokens, config }) => {
    const { context_window_tokens, context_trim_threshold, context_keep_recent } = config;
    const fitted = fitContext(
      messages,
      systemTokens,
      context_window_tokens,
      context_trim_threshold,
      context_keep_recent,
    );
    const { trimmed, removedMessages, removedTokens } = fitted.outcome;
    const payload = { removed_messages: removedMessages, removed_tokens: removedTokens };
    const cut = trimmed ? JSON.stringify(payload) : '';
    if (trimmed && cut !== told) tell(payload);
    told = cut;
    return fitted;
  };
}
