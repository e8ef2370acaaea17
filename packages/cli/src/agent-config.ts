import type { TurnTimeouts } from '@celestea/agent-loop';
import { defaultAgentConfig, type AgentConfig } from '@celestea/core';

import type { TurnLimits } from './limits.ts';

/** How the agent of a model works, within what its turns may take. */
export function agentConfigOf(
  model: string,
  { maxSteps, windowTokens }: Pick<TurnLimits, 'maxSteps' | 'windowTokens'>,
): AgentConfig {
  return defaultAgentConfig({
    model,
    ...(maxSteps === null ? {} : { max_steps: maxSteps }),
    ...(windowTokens === null ? {} : { context_window_tokens: windowTokens }),
  });
}

/** How long its turns wait. A model that gives up on silence by itself is not watched as well. */
export function timeoutsOf(
  { idleTimeoutMs, toolTimeoutMs }: Pick<TurnLimits, 'idleTimeoutMs' | 'toolTimeoutMs'>,
  { watchesSilence }: { readonly watchesSilence: boolean },
): TurnTimeouts {
  return { streamIdleMs: watchesSilence ? 0 : (idleTimeoutMs ?? 0), toolMs: toolTimeoutMs ?? 0 };
}
