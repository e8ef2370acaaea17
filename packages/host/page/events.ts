import { SSE_EVENT_NAMES } from '@celestea/core';

import type { EventAction } from './model/view.ts';

/** What a stream of events tells of itself. */
interface EventsListener {
  onOpen(): void;
  onEvent(event: EventAction): void;
  /** The browser connects again by itself, and goes on where it was. */
  onLost(): void;
  /** The host refused the stream, and the browser gave it up. */
  onRefused(): void;
}

/** Listens to the events of a session after the one given; gives back what ends that. */
export function listenToEvents(
  id: string,
  lastEventId: number,
  listener: EventsListener,
): () => void {
  const source = new EventSource(`/api/sessions/${id}/events?lastEventId=${String(lastEventId)}`);
  source.onopen = () => {
    listener.onOpen();
  };
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) listener.onRefused();
    else listener.onLost();
  };
  // a browser hands over the events that it was asked for
  for (const name of SSE_EVENT_NAMES) {
    source.addEventListener(name, (event: Event) => {
      // the host that sent this page made it, after the type
      const envelope = JSON.parse(String((event as MessageEvent).data)) as object;
      listener.onEvent({ ...envelope, type: 'event', name, now: Date.now() } as EventAction);
    });
  }
  return () => {
    source.close();
  };
}
