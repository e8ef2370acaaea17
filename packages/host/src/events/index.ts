export { eventStream } from './event-stream.ts';
export type { EventStreamOptions } from './event-stream.ts';
export { commentFrame, formatFrame, parseLastEventId, retryFrame } from './frames.ts';
export type { HostEvent, Publish } from './host-event.ts';
export { EventRing } from './ring.ts';
export type { EventListener, EventRingOptions, StoredEvent } from './ring.ts';
