import type { DefaultAgentLoop } from '@celestea/agent-loop';
import {
  AGENT_LOOP_SERVICE,
  definePlugin,
  expectThat,
  isRecord,
  type AgentLoop,
  type Context,
  type Plugin,
  type TurnOutcome,
} from '@celestea/core';
import { context } from '@opentelemetry/api';

import { readOptions, type TraceOptions } from './options.ts';
import { tracedScope } from './traced-seams.ts';
import { TurnTrace } from './turn-trace.ts';

/** A loop with the faces of a `DefaultAgentLoop`: a promise, a stream, a snapshot. */
export type TracedLoop = Pick<DefaultAgentLoop, keyof DefaultAgentLoop>;

/**
 * The same loop, each turn under an `invoke_agent` span with its steps, model calls and tool calls
 * below it. Events, rows and outcomes are those of the loop itself, whatever the tracer does.
 * Where no SDK is registered, or the turn is not sampled, the loop is called as it is.
 *
 * @throws TypeError when it is no loop, or naming the option that is not what it has to be.
 *
 * @example
 * const loop = traceLoop(new DefaultAgentLoop(defaultAgentConfig()), { agentName: 'helper' });
 * const outcome = await loop.runTurnOutcome(ctx, 'What is in README.md?');
 */
export function traceLoop(loop: TracedLoop, options: TraceOptions = {}): TracedLoop {
  expectThat(isLoop(loop), 'loop', 'a loop with runTurnOutcome and streamTurn', loop);
  const tracing = readOptions(options);

  /** Begins a turn in the scope that is its own; the same one where nothing is recorded. */
  const begin = (ctx: Context, input: unknown): { trace: TurnTrace; scope: Context } => {
    const trace = new TurnTrace(tracing, { ctx, input, model: loop.agentConfig.model });
    const isTraced = trace.isOpen && isRecord(ctx);
    return { trace, scope: isTraced ? tracedScope(ctx, trace) : ctx };
  };

  const runTurnOutcome: TracedLoop['runTurnOutcome'] = async (ctx, input, turn) => {
    const { trace, scope } = begin(ctx, input);
    try {
      const run = (): Promise<TurnOutcome> => loop.runTurnOutcome(scope, input, turn);
      const outcome = await context.with(trace.context, run);
      trace.end(outcome);
      return outcome;
    } catch (error) {
      trace.reject(error);
      throw error;
    }
  };

  const streamTurn: TracedLoop['streamTurn'] = (ctx, input, turn) => {
    const { trace, scope } = begin(ctx, input);
    const onOutcome = (outcome: TurnOutcome): void => {
      trace.end(outcome);
    };
    const onError = (error: unknown): void => {
      trace.reject(error);
    };
    try {
      const stream = context.with(trace.context, () => loop.streamTurn(scope, input, turn));
      void stream.outcome.then(onOutcome, onError);
      return stream;
    } catch (error) {
      onError(error);
      throw error;
    }
  };

  return {
    get agentConfig() {
      return loop.agentConfig;
    },
    get usageTracker() {
      return loop.usageTracker;
    },
    contextSnapshot: (ctx) => loop.contextSnapshot(ctx),
    runTurnOutcome,
    runTurn: async (ctx, input, turn) => {
      await runTurnOutcome(ctx, input, turn);
    },
    streamTurn,
  };
}

function isLoop(loop: unknown): boolean {
  const methods = ['runTurnOutcome', 'streamTurn', 'contextSnapshot'];
  const isFilled = isRecord(loop) && isRecord(loop['agentConfig']);
  return isFilled && methods.every((name) => typeof loop[name] === 'function');
}

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
