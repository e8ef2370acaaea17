import { AGENT_LOOP_SERVICE, definePlugin, type AgentLoop, type Plugin } from '@celestea/core';

import { readOptions, type TraceOptions } from './options.ts';
import { traceLoop, type TracedLoop } from './trace-loop.ts';

/**
 * Puts {@link traceLoop} around the loop under `AGENT_LOOP_SERVICE`; to be mounted after the plugin
 * that provides it. Mounting throws an `Error` when there is none yet, and a `TypeError` for a loop
 * without the faces of a `DefaultAgentLoop`.
 *
 * @throws TypeError naming the option that is not what it has to be.
 *
 * @example mountPlugins(ctx, [agentLoopPlugin(config), traceLoopPlugin({ agentName: 'helper' })])
 */
export function traceLoopPlugin(options: TraceOptions = {}): Plugin {
  readOptions(options); // a wrong one is told here, not where it is mounted
  return definePlugin('celestea.otel.traceLoop', (ctx) => {
    const loop: AgentLoop = ctx.require(AGENT_LOOP_SERVICE);
    ctx.provide(AGENT_LOOP_SERVICE, traceLoop(loop as TracedLoop, options)); // which checks it
  });
}
