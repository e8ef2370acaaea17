export { eventStream } from './event-stream.ts';
export type { ApprovalDecision, HostEvent, HostStatus, Publish } from './host-event.ts';
export { EventRing } from './ring.ts';
export type { EventRingOptions } from './ring.ts';
