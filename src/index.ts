export { defaultAgentConfig } from '@celestea/core';
export { DefaultAgentLoop } from './loop.ts';
export type { AgentLoopBindings } from './options.ts';
export { agentLoopPlugin, createAgentLoop } from './plugin.ts';
export {
  CANCELLED_BEFORE_EXECUTION,
  closeIterator,
  errorMessage,
  isAborted,
  raceAbort,
} from './cancel.ts';
export type { RaceResult } from './cancel.ts';
export { TRIMMED_MARKER_PREFIX, trimContext, trimmedMarkerMessage } from './context-trim.ts';
export type { TrimOutcome, TrimResult } from './context-trim.ts';
export {
  estimateImageTokens,
  estimateMessagesTokens,
  estimateMessageTokens,
  estimateTokens,
  IMAGE_BASE_TOKENS,
  IMAGE_PIXEL_DIVISOR,
  withMessageEstimator,
} from './tokens.ts';
export type { MessageEstimator } from './tokens.ts';
export { createUsageTracker, UsageTracker } from './usage.ts';
export { decisionLabel, doneEvent, toolCallEvent, toolResultEvent, turnEndEvent } from './events.ts';
export type { EventSink } from './events.ts';
export { loopEventToSse } from './sse.ts';
export type { SseFrame } from './sse.ts';
