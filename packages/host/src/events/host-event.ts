import type { SseEventName } from '@celestea/core';

/** What happened in a session, before it gets its envelope. */
export interface HostEvent {
  /** As in `contracts/sse-events.json`. */
  readonly name: SseEventName;
  /** The turn it belongs to; `null` between turns. */
  readonly turn: string | null;
  readonly payload: Record<string, unknown>;
}

/** Takes what happened; never throws. */
export type Publish = (event: HostEvent) => void;
