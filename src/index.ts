export { defaultAgentConfig } from '@celestea/core';
export { DefaultAgentLoop } from './loop.ts';
export type {
  AgentLoopBindings,
  ContextPolicy,
  ContextPolicyInput,
  PreparedStep,
  PrepareStep,
  StepInfo,
  TurnOptions,
} from './options.ts';
export { TurnStream } from './turn-stream.ts';
export type { TurnStarter } from './turn-stream.ts';
export { MAX_STEER_EXTENSIONS } from './steering.ts';
export type { TurnTimeouts } from './timeouts.ts';
export type { Diagnostic, DiagnosticKind, DiagnosticListener } from './diagnostics.ts';
export { RETENTION_SERVICE, toolResultRetention } from './retention.ts';
export type { RetentionSizes, SpillRef, ToolResultRetention } from './retention.ts';
export { agentLoopPlugin, createAgentLoop } from './plugin.ts';
export {
  CANCELLED_BEFORE_EXECUTION,
  closeIterator,
  errorMessage,
  isAborted,
  raceAbort,
} from './cancel.ts';
export type { RaceResult } from './cancel.ts';
export { ContextBudgetError, fitContext } from './context-fit.ts';
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
