export {
  assistantText,
  assistantToolCall,
  hasToolCalls,
  IMAGE_MEDIA_TYPES,
  imageContent,
  isImageContent,
  isImageMediaType,
  isTextContent,
  isThinkingContent,
  isToolCallContent,
  Message,
  messageImages,
  messageText,
  messageTexts,
  messageToolCalls,
  ROLES,
  systemMessage,
  toolCallIds,
  toolResultMessage,
  toolResultWithImages,
  userMessage,
  userMessageWithImages,
} from './message.ts';
export type {
  Content,
  ImageContent,
  ImageMediaType,
  ImageRef,
  MessageConstructors,
  Role,
  TextContent,
  ThinkingContent,
  ToolCall,
  ToolCallContent,
} from './message.ts';
export { cacheHitRatio, usageAdd, usageIsEmpty, usageSum, zeroUsage } from './usage.ts';
export type { Usage } from './usage.ts';
export { FINISH_REASONS, isTerminalStreamEvent, LlmError, STREAM_EVENT_KINDS } from './model.ts';
export type {
  FinishReason,
  GenerateOptions,
  Llm,
  LlmErrorDetails,
  LlmErrorKind,
  LlmStream,
  ModelFailureKind,
  ModelRequest,
  StreamEvent,
  TimeoutStage,
} from './model.ts';
export { LlmRegistry } from './llm-registry.ts';
export { NamedRegistry } from './named-registry.ts';
export type {
  OmittedSurface,
  Tool,
  ToolCallOptions,
  ToolDecision,
  ToolExecOutcome,
  ToolGuard,
  ToolInput,
  ToolOutput,
  ToolRegistry,
  ToolSpec,
  ToolSurface,
  TruncationSurface,
} from './tool.ts';
export {
  effectiveOutcome,
  isTurnOutcome,
  outcomeError,
  outcomeErrorParts,
  outcomePhase,
  TURN_OUTCOMES,
} from './turn-outcome.ts';
export type { TurnError, TurnOutcome, TurnOutcomePhase } from './turn-outcome.ts';
export type {
  AssistantMessageRow,
  SessionEvent,
  ThinkingDeltaRow,
  ToolCallRow,
  ToolResultRow,
  TurnEndRow,
  TurnStartRow,
  UserMessageRow,
} from './session-event.ts';
export type { SessionLog } from './session-log.ts';
export { formatTurnId, nextTurnNumber, parseTurnNumber } from './turn-id.ts';
export { parseSessionEvent, serializeSessionEvent } from './codec.ts';
export type { ParsedSessionEvent } from './codec.ts';
export type { AttachmentStore } from './attachment-store.ts';
export { balanceToolCalls, CANCELLED_TOOL_CALL_TEXT } from './balance.ts';
export {
  ABANDONED_TOOL_CALL_TEXT,
  deriveMessagesFrom,
  IncrementalProjection,
} from './projection.ts';
export { Context, serviceToken } from './context.ts';
export type { ClassToken, ServiceToken, Token } from './context.ts';
export { definePlugin, mountPlugins, pluginNames } from './plugin.ts';
export type { Plugin } from './plugin.ts';
export { AgentError, defaultAgentConfig } from './agent.ts';
export type { AgentConfig, AgentLoop, AgentTurnOptions } from './agent.ts';
export { SSE_EVENT_NAMES } from './loop-event.ts';
export type { LoopEvent, SseEventName } from './loop-event.ts';
export { formatInjection } from './injection.ts';
export type { InjectionSource, PendingInjection } from './injection.ts';
export {
  AGENT_LOOP_SERVICE,
  LLM_REGISTRY_SERVICE,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_GUARD_SERVICE,
  TOOL_REGISTRY_SERVICE,
} from './services.ts';
export {
  exceedsLevels,
  jsonExceeds,
  MAX_JSON_LEVELS,
  serdeJsonBytes,
  serdeJsonString,
} from './json-text.ts';
export { sendableValue } from './sendable-value.ts';
export { readImageRef } from './image-ref.ts';
export { describeValue, expectThat, isRecord } from './shape.ts';
export { renderOmitted } from './surface.ts';
export { cutMiddle, utf8Length } from './text.ts';
export type { CutText } from './text.ts';
