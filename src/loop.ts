import {
  expectThat,
  type AgentConfig,
  type AgentLoop,
  type Context,
  type ImageRef,
  type ModelRequest,
  type SessionLog,
  type TurnOutcome,
} from '@celestea/core';

import { Cancellation, cancellationOf, unheard } from './cancel.ts';
import { turnEndEvent, type EventSink } from './events.ts';
import { failureText } from './failure-text.ts';
import {
  checkBindings,
  checkConfig,
  checkInput,
  resolveOptions,
  type AgentLoopBindings,
  type TurnOptions,
} from './options.ts';
import { generateFailure } from './reply.ts';
import { snapshotRequest } from './request.ts';
import { claimLog, releaseLog } from './running-logs.ts';
import { resolveSeams, sessionLog, toolRegistry } from './seams.ts';
import { Steering } from './steering.ts';
import { runStep } from './step.ts';
import { TurnStream, type TurnStarter } from './turn-stream.ts';
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
    this.#config = Object.freeze(checkConfig(config));
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
    turn?: readonly ImageRef[] | TurnOptions,
  ): Promise<void> {
    await this.runTurnOutcome(ctx, userInput, turn);
  }

  /**
   * Runs one turn and resolves with how it ended. `null` as input adds no user message; an
   * array as third argument is the attachments.
   *
   * Rejects with an `AgentError` when a service is missing or a turn runs on this log
   * already, and with a `TypeError` for a wrong option, before anything is written; with the
   * log's or the registry's own error when one of them breaks. A model or a tool that fails
   * is an outcome (L2.5 to L2.7).
   */
  runTurnOutcome(
    ctx: Context,
    userInput: string | null,
    turn?: readonly ImageRef[] | TurnOptions,
  ): Promise<TurnOutcome> {
    return this.#run(ctx, userInput, turn);
  }

  /**
   * Runs one turn whose events are pulled with `for await`; it starts at once. Leaving the
   * loop early cancels the turn (X5).
   */
  streamTurn(
    ctx: Context,
    userInput: string | null,
    turn?: readonly ImageRef[] | TurnOptions,
  ): TurnStream {
    return new TurnStream((sink, cancel) => this.#run(ctx, userInput, turn, sink, cancel));
  }

  /**
   * The request that a turn would send next, without sending it. Throws an `AgentError` when
   * the log or the registry is missing or the context policy takes its time, and a
   * `ContextBudgetError` when no request would fit.
   */
  contextSnapshot(ctx: Context): ModelRequest {
    const policy = this.#bindings.contextPolicy;
    return snapshotRequest(this.#config, sessionLog(ctx), toolRegistry(ctx), policy);
  }

  /** `sink` and `cancel` are what the loop itself adds to the options. */
  async #run(
    ctx: Context,
    userInput: string | null,
    turnOptions: readonly ImageRef[] | TurnOptions | undefined,
    sink?: EventSink,
    cancel?: Parameters<TurnStarter>[1],
  ): Promise<TurnOutcome> {
    const options = resolveOptions(this.#bindings, turnOptions, sink);
    checkInput(userInput);
    const seams = resolveSeams(ctx);
    const cancellation = new Cancellation();
    claimLog(seams.log);
    try {
      for (const signal of options.signals) cancellation.follow(cancellationOf(signal));
      if (cancel instanceof Cancellation) cancellation.follow(cancel);
      const id = nextTurnId(seams.log);
      const turn = new Turn(id, this.#config, seams, options, cancellation);
      turn.append({ type: 'turn_start', id });
      let outcome: TurnOutcome;
      const faults: unknown[] = [];
      try {
        outcome = await driveTurn(turn, userInput);
      } catch (error) {
        faults.push(error);
        outcome = generateFailure(failureText(error));
      }
      return await endTurn(turn, outcome, faults);
    } finally {
      cancellation.release();
      releaseLog(seams.log);
    }
  }
}

/** A log that gives no id is refused before anything is written. */
function nextTurnId(log: SessionLog): string {
  const id: unknown = log.nextTurnId();
  unheard(id);
  expectThat(typeof id === 'string', 'nextTurnId of the session log', 'a text', id);
  return id;
}

/** The turn between its two rows. Rejects when a seam breaks. */
async function driveTurn(turn: Turn, userInput: string | null): Promise<TurnOutcome> {
  appendInput(turn, userInput);
  const limit = turn.config.max_steps > 0 ? turn.config.max_steps : Infinity;
  const steering = new Steering(turn);
  let answered = false;
  for (let step = 0; ; step += 1) {
    if (turn.breather.isDue()) await turn.breather.rest();
    if (turn.cancelled) return 'cancelled';
    if (step >= limit) return 'step_limit';
    if (steering.drain() === 0 && answered) return 'completed';
    const end = await runStep(turn, step);
    answered = step + 1 < limit && steering.extends(end);
    if (end !== null && !answered) return end;
  }
}

function appendInput(turn: Turn, userInput: string | null): void {
  const { attachments } = turn.options;
  if (userInput === null && attachments.length === 0) return;
  const pictures = attachments.length > 0 ? { attachments: [...attachments] } : {};
  turn.append({ type: 'user_message', text: userInput ?? '', ...pictures });
}

/** The one place where a turn ends, on every path (L2.4); rethrows what broke a seam (L2.7). */
async function endTurn(
  turn: Turn,
  outcome: TurnOutcome,
  faults: unknown[],
): Promise<TurnOutcome> {
  turn.cancellation.release(); // a cancel that comes from here on is too late (X2)
  try {
    turn.append({ type: 'turn_end', id: turn.id, outcome });
  } catch (error) {
    faults.push(error);
  }
  turn.emit(turnEndEvent(outcome));
  try {
    await turn.flush();
  } catch (error) {
    faults.push(error);
  }
  if (faults.length > 0) throw faults[0];
  return outcome;
}
