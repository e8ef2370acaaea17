export { ApprovalDesk } from './approval-desk.ts';
export { HostError } from './host-error.ts';
export type { HostErrorCode } from './host-error.ts';
export type { LiveSession } from './live-session.ts';
export { LiveSessions } from './live-sessions.ts';
export { isSessionId } from './session-id.ts';
export { checkLiveSessionParts, MAX_TIMER_MS } from './session-parts.ts';
export type { LiveSessionParts, SessionLoop } from './session-parts.ts';
export { SessionStore } from './session-store.ts';
