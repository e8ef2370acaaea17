import { DefaultAgentLoop, type TurnTimeouts } from '@celestea/agent-loop';
import { expectThat, isRecord, type AgentConfig, type Llm, type ToolRegistry } from '@celestea/core';
import { JsonlSessionLog } from '@celestea/session';

import type { Publish } from '../events/host-event.ts';
import type { ApprovalDesk } from './approval-desk.ts';
import { HostError } from './host-error.ts';

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

/** What a {@link LiveSession} is made with. */
export interface LiveSessionOptions {
  readonly id: string;
  /** Open for writing; the session closes it. */
  readonly log: JsonlSessionLog;
  readonly publish: Publish;
  readonly parts: LiveSessionParts;
  /** Told after each turn, when nothing runs any more. */
  readonly onIdle?: () => void;
}

/** The longest time a timer can wait. */
const MAX_PROGRESS_MS = 2 ** 31 - 1;

/** Throws a `TypeError` for what is no text, and a {@link HostError} `invalid` for no words. */
export function checkText(text: unknown): asserts text is string {
  expectThat(typeof text === 'string', 'text', 'a text', text);
  if (text.trim() === '') throw new HostError('invalid', 'expected some words, got an empty text');
}

/** Throws a `TypeError` that names the option that is not what it has to be. */
export function checkLiveSessionOptions(options: LiveSessionOptions): LiveSessionOptions {
  expectThat(isRecord(options), 'options', 'an object', options);
  const { id, log, publish, parts, onIdle } = options;
  expectThat(typeof id === 'string', 'id', 'the id of a session', id);
  expectThat(log instanceof JsonlSessionLog, 'log', 'an open JsonlSessionLog', log);
  expectThat(typeof publish === 'function', 'publish', 'a function', publish);
  const isHook = onIdle === undefined || typeof onIdle === 'function';
  expectThat(isHook, 'onIdle', 'a function', onIdle);
  checkLiveSessionParts(parts);
  return options;
}

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
    (typeof progressMs === 'number' && progressMs > 0 && progressMs <= MAX_PROGRESS_MS);
  expectThat(fits, 'parts.progressMs', 'milliseconds above 0', progressMs);
}

/** The loop that the turns of a session run in. */
export function loopOf({ config, loop }: LiveSessionParts, session: string): SessionLoop {
  return loop?.(config, session) ?? new DefaultAgentLoop(config);
}
