import type { LoopEvent } from '@celestea/core';

import type { EventSink } from '../events.ts';

/** A sink with what it was told. */
export interface CollectingSink {
  readonly sink: EventSink;
  readonly events: LoopEvent[];
}

/** A sink that keeps every event, oldest first. */
export function collectingSink(): CollectingSink {
  const events: LoopEvent[] = [];
  return {
    events,
    sink: (event) => {
      events.push(event);
    },
  };
}
