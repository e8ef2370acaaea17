export { createHost } from './http/create-host.ts';
export type { Host } from './http/create-host.ts';
export type { HostLimits, HostOptions } from './http/host-options.ts';
export { builtPageFolder } from './http/page-folder.ts';
export type { Answer, ReadingOptions, Route, RouteReply } from './http/route.ts';
export { serveHost } from './http/serve-host.ts';
export type { ServedHost, ServeOptions } from './http/serve-host.ts';
export type {
  ApprovalDecision,
  EventRingOptions,
  HostEvent,
  HostStatus,
} from './events/index.ts';
export { hostLogger } from './observe/index.ts';
export type { HostFault, HostLogLevel } from './observe/index.ts';
export { HostError } from './sessions/index.ts';
export type { ApprovalDesk, HostErrorCode, LiveSessionParts, SessionLoop } from './sessions/index.ts';
export type {
  WireApproval,
  WireContext,
  WireIssue,
  WireMessage,
  WireNow,
  WirePage,
  WireReply,
  WireRunning,
  WireSession,
  WireState,
} from './wire.ts';
