export { createHost } from './http/create-host.ts';
export type { Host } from './http/create-host.ts';
export type { HostFault, HostLimits, HostOptions } from './http/host-options.ts';
export { builtPageFolder } from './http/page-folder.ts';
export { hostLogger } from './observe/index.ts';
export type { HostLogLevel } from './observe/index.ts';
export { serveHost } from './http/serve-host.ts';
export type { ServedHost, ServeOptions } from './http/serve-host.ts';
export type { Answer, RawInput, Route, RouteReply } from './http/route.ts';
export type {
  WireApproval,
  WireContext,
  WireIssue,
  WireMessage,
  WireReply,
  WireRunning,
  WireSession,
  WireState,
} from './http/wire.ts';
export {
  commentFrame,
  EventRing,
  eventStream,
  formatFrame,
  parseLastEventId,
  retryFrame,
} from './events/index.ts';
export type {
  EventListener,
  EventRingOptions,
  EventStreamOptions,
  HostEvent,
  Publish,
  StoredEvent,
} from './events/index.ts';
export {
  ApprovalDesk,
  HostError,
  isSessionId,
  LiveSession,
  LiveSessions,
  SessionStore,
} from './sessions/index.ts';
export type {
  ApprovalDecision,
  ApprovalDeskOptions,
  ContextReport,
  ContextTokens,
  HostErrorCode,
  LiveSessionOptions,
  LiveSessionParts,
  LiveSessionsOptions,
  PendingApproval,
  ReplyState,
  RunningState,
  SessionLoop,
  SessionSummary,
} from './sessions/index.ts';
