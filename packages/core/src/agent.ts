import type { Context } from './context.ts';
import type { LoopEvent } from './loop-event.ts';
import type { ImageRef } from './message.ts';

/** What any loop can be told for one turn; an implementation may know more. */
export interface AgentTurnOptions {
  /** Pictures that go with the input. */
  attachments?: readonly ImageRef[] | undefined;
  /** Cancels the turn. */
  signal?: AbortSignal | undefined;
  /** Gets the turn's events, in the order of the log. */
  sink?: ((event: LoopEvent) => void) | undefined;
}

/** The loop seam: drives one turn over the services of `ctx`. */
export interface AgentLoop {
  /**
   * Runs one turn. `null` as input adds no user message; an array as third argument is the
   * attachments. Rejects on misuse and broken seams alone; what a model or a tool does wrong
   * is the turn's outcome.
   */
  runTurn(
    ctx: Context,
    userInput: string | null,
    turn?: readonly ImageRef[] | AgentTurnOptions,
  ): Promise<void>;
}

/** Misuse of a loop: a missing service, a turn that cannot start. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
}

/** What a loop is told once, for all its turns. */
export interface AgentConfig {
  model: string;
  system_prompt: string;
  /** Model steps a turn may take; 0 is no limit. */
  max_steps: number;
  /** Tools that may run at the same time; at least 1. */
  max_parallel_tool_calls: number;
  /** Tokens the model's window holds; 0 turns trimming off. */
  context_window_tokens: number;
  /** The part of the window a request may fill, 0 to 1. */
  context_trim_threshold: number;
  /** Messages that trimming tries to keep at the end; at least 1. */
  context_keep_recent: number;
}

/** The default configuration, with what you want otherwise; `undefined` is no override. */
export function defaultAgentConfig(overrides: Partial<AgentConfig> = {}): AgentConfig {
  const entries: [string, unknown][] = Object.entries(overrides);
  const wanted = entries.filter(([, value]) => value !== undefined);
  return {
    model: 'deepseek-chat',
    system_prompt: 'You are celestea, an agent that works with tools.',
    max_steps: 16,
    max_parallel_tool_calls: 4,
    context_window_tokens: 65_536,
    context_trim_threshold: 0.8,
    context_keep_recent: 10,
    ...(Object.fromEntries(wanted) as Partial<AgentConfig>),
  };
}
