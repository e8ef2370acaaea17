import { AGENT_LOOP_SERVICE, definePlugin, type AgentConfig, type Plugin } from '@celestea/core';

import { DefaultAgentLoop } from './loop.ts';
import type { AgentLoopBindings } from './options.ts';

/** A loop as a value, for hosts that need no plugin. */
export function createAgentLoop(
  config: AgentConfig,
  bindings: AgentLoopBindings = {},
): DefaultAgentLoop {
  return new DefaultAgentLoop(config, bindings);
}

/**
 * Provides a loop under `AGENT_LOOP_SERVICE`. The services a turn needs are looked up when
 * it runs, so plugins can be mounted in any order; a later mount wins (L7.5).
 */
export function agentLoopPlugin(
  config: AgentConfig,
  bindings: AgentLoopBindings = {},
  name = 'celestea.agent-loop.DefaultAgentLoop',
): Plugin {
  const loop = createAgentLoop(config, bindings);
  return definePlugin(name, (ctx) => {
    ctx.provide(AGENT_LOOP_SERVICE, loop);
  });
}
