import type { DefaultAgentLoop } from '@celestea/agent-loop';
import { expectThat, isRecord, type Context } from '@celestea/core';

import { readOptions, type TraceOptions } from './options.ts';
import { observe, quietly, within } from './span.ts';
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

  const begin = (ctx: Context, input: unknown): TurnTrace =>
    new TurnTrace(tracing, { ctx, input, model: loop.agentConfig.model });

  const runTurnOutcome: TracedLoop['runTurnOutcome'] = async (ctx, input, turn) => {
    const trace = begin(ctx, input);
    const scope = trace.scopeOf(ctx);
    try {
      const outcome = await within(trace.context, () => loop.runTurnOutcome(scope, input, turn));
      trace.end(outcome);
      return outcome;
    } catch (error) {
      trace.reject(error);
      throw error;
    }
  };

  const streamTurn: TracedLoop['streamTurn'] = (ctx, input, turn) => {
    const trace = begin(ctx, input);
    const scope = trace.scopeOf(ctx);
    const onError = (error: unknown): void => {
      trace.reject(error);
    };
    try {
      const stream = within(trace.context, () => loop.streamTurn(scope, input, turn));
      observe(
        stream.outcome,
        (outcome) => {
          trace.end(outcome);
        },
        onError,
      );
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
  return (
    quietly(
      () =>
        isRecord(loop) &&
        isRecord(loop['agentConfig']) &&
        methods.every((name) => typeof loop[name] === 'function'),
    ) === true
  );
}
