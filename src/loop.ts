import type {
  AgentConfig,
  AgentLoop,
  Context,
  ImageRef,
  ModelRequest,
  TurnOutcome,
} from '@celestea/core';

import { errorMessage, linkSignals } from './cancel.ts';
import { turnEndEvent } from './events.ts';
import { checkBindings, requireObject, type AgentLoopBindings } from './options.ts';
import { buildRequest } from './request.ts';
import { resolveSeams, sessionLog, toolRegistry } from './seams.ts';
import { runStep } from './step.ts';
import { Turn } from './turn.ts';
import type { UsageTracker } from './usage.ts';

/**
 * Drives turns of an agent: asks the model, runs the tools it calls, and goes on until it
 * answers in words. The model, the log and the tools come from the `Context` of each turn.
 *
 * @example
 * const loop = new DefaultAgentLoop(defaultAgentConfig(), { sink: (event) => show(event) });
 * const outcome = await loop.runTurnOutcome(ctx, 'What is in README.md?');
 */
export class DefaultAgentLoop implements AgentLoop {
  readonly #config: AgentConfig;
  readonly #bindings: AgentLoopBindings;

  /** Throws a `TypeError` that names the argument or binding when one is of a wrong type. */
  constructor(config: AgentConfig, bindings: AgentLoopBindings = {}) {
    requireObject('config', config);
    this.#config = Object.freeze({ ...config });
    this.#bindings = { ...checkBindings(bindings) };
  }

  /** The configuration, frozen. */
  get agentConfig(): Readonly<AgentConfig> {
    return this.#config;
  }

  /** The tracker that was bound, or `undefined`. */
  get usageTracker(): UsageTracker | undefined {
    return this.#bindings.usage;
  }

  /** {@link runTurnOutcome} with the outcome dropped. */
  async runTurn(
    ctx: Context,
    userInput: string | null,
    attachments: readonly ImageRef[] = [],
  ): Promise<void> {
    await this.runTurnOutcome(ctx, userInput, attachments);
  }

  /**
   * Runs one turn and resolves with how it ended. `null` as input adds no user message.
   *
   * Rejects with an `AgentError` when a service is missing, before anything is written, and
   * with the log's or the registry's own error when one of them breaks; a model or a tool
   * that fails is an outcome (L2.5 to L2.7).
   */
  async runTurnOutcome(
    ctx: Context,
    userInput: string | null,
    attachments: readonly ImageRef[] = [],
  ): Promise<TurnOutcome> {
    const seams = resolveSeams(ctx);
    const id = seams.log.nextTurnId();
    seams.log.append({ type: 'turn_start', id });
    const { sink, usage } = this.#bindings;
    const { signal, release } = linkSignals(this.#bindings.signal);
    const turn = new Turn({ id, config: this.#config, seams, signal, sink, usage });
    return endTurn(turn, driveTurn(turn, userInput, attachments).finally(release));
  }

  /**
   * The request that a turn would send next, without sending it. Throws an `AgentError` when
   * the log or the registry is missing.
   */
  contextSnapshot(ctx: Context): ModelRequest {
    return buildRequest(this.#config, sessionLog(ctx), toolRegistry(ctx));
  }
}

/** The turn between its two rows. Rejects when a seam breaks. */
async function driveTurn(
  turn: Turn,
  userInput: string | null,
  attachments: readonly ImageRef[],
): Promise<TurnOutcome> {
  if (userInput !== null || attachments.length > 0) {
    const pictures = attachments.length > 0 ? { attachments: [...attachments] } : {};
    turn.append({ type: 'user_message', text: userInput ?? '', ...pictures });
  }
  const limit = turn.config.max_steps > 0 ? turn.config.max_steps : Infinity;
  for (let step = 0; ; step += 1) {
    if (turn.cancelled) return 'cancelled';
    if (step >= limit) return 'step_limit';
    const verdict = await runStep(turn);
    switch (verdict.kind) {
      case 'continue':
        break;
      case 'end':
        return verdict.outcome;
      default:
        return verdict satisfies never;
    }
  }
}

/** The one place where a turn ends, on every path (L2.4); rethrows what broke a seam (L2.7). */
async function endTurn(turn: Turn, driven: Promise<TurnOutcome>): Promise<TurnOutcome> {
  let outcome: TurnOutcome;
  const faults: unknown[] = [];
  try {
    outcome = await driven;
  } catch (error) {
    faults.push(error);
    outcome = { error: { kind: 'generate', message: errorMessage(error) } };
  }
  try {
    turn.append({ type: 'turn_end', id: turn.id, outcome });
  } catch (error) {
    faults.push(error);
  }
  turn.emit(turnEndEvent(outcome));
  if (faults.length > 0) throw faults[0];
  return outcome;
}
