import type { DefaultAgentLoop, TurnTimeouts } from '@celestea/agent-loop';
import { expectThat, isRecord, type AgentConfig, type Llm, type ToolRegistry } from '@celestea/core';

import type { ApprovalDesk } from './approval-desk.ts';

/** What a session needs of a loop. */
export type SessionLoop = Pick<
  DefaultAgentLoop,
  'agentConfig' | 'contextSnapshot' | 'runTurnOutcome'
>;

/** What the turns of a session are made of. */
export interface LiveSessionParts {
  /** May be shared by sessions. */
  readonly llm: Llm;
  /** Makes the tools of one session; what has to be approved is asked at the desk. */
  readonly tools: (desk: ApprovalDesk) => ToolRegistry;
  readonly config: AgentConfig;
  /** Limits of waiting for the model and for tools; without it there are none. */
  readonly timeouts?: TurnTimeouts | undefined;
  /**
   * Makes the loop of one session, such as one whose turns are traced; a `DefaultAgentLoop` unless
   * given.
   */
  readonly loop?: ((config: AgentConfig, session: string) => SessionLoop) | undefined;
  /** The time in milliseconds since 1970; for tests. */
  readonly now?: () => number;
  /** How often a running turn tells of its progress, in milliseconds; 1000 unless given. */
  readonly progressMs?: number;
}

/** The longest time a timer can wait, in milliseconds. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/** Throws a `TypeError` that names the part that is not what it has to be. */
export function checkLiveSessionParts(parts: LiveSessionParts): void {
  expectThat(isRecord(parts), 'parts', 'an object', parts);
  const { llm, tools, config, timeouts, loop, now, progressMs } = parts;
  const isModel = isRecord(llm) && typeof llm.generate === 'function';
  expectThat(isModel, 'parts.llm', 'a model with generate', llm);
  expectThat(typeof tools === 'function', 'parts.tools', 'a function', tools);
  expectThat(isRecord(config), 'parts.config', 'an object', config);
  const isLimited = timeouts === undefined || isRecord(timeouts);
  expectThat(isLimited, 'parts.timeouts', 'an object', timeouts);
  const isLoop = loop === undefined || typeof loop === 'function';
  expectThat(isLoop, 'parts.loop', 'a function that makes a loop', loop);
  expectThat(now === undefined || typeof now === 'function', 'parts.now', 'a function', now);
  const fits =
    progressMs === undefined ||
    (typeof progressMs === 'number' && progressMs > 0 && progressMs <= MAX_TIMER_MS);
  expectThat(fits, 'parts.progressMs', 'milliseconds above 0', progressMs);
}
