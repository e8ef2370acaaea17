import type { AgentConfig, ModelRequest, SessionLog, ToolRegistry } from '@celestea/core';

import { trimContext } from './context-trim.ts';
import { estimateTokens } from './tokens.ts';

/** The next request: the log's history within the context budget, and the tools (L5.1). */
export function buildRequest(
  config: AgentConfig,
  log: SessionLog,
  tools: ToolRegistry,
): ModelRequest {
  const { messages } = trimContext(
    log.deriveMessages(),
    estimateTokens(config.system_prompt),
    config.context_window_tokens,
    config.context_trim_threshold,
    config.context_keep_recent,
  );
  return {
    model: config.model,
    system: config.system_prompt,
    messages,
    tools: tools.schemas(),
    max_tokens: null,
    temperature: null,
  };
}
