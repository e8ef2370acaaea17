import type { EventAction } from './model/apply-event.ts';
import { isPayload, numberOf, textOf, textOrNull } from './model/read-payload.ts';

/** Every name in `contracts/sse-events.json`: a browser hands over those it was asked for. */
const NAMES = [
  'text',
  'thinking',
  'tool',
  'tool_result',
  'turn_end',
  'done',
  'status',
  'compact',
  'question',
];

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
  for (const name of NAMES) {
    source.addEventListener(name, ({ data }: MessageEvent<unknown>) => {
      const event = readEvent(name, data);
      if (event !== null) listener.onEvent(event);
    });
  }
  return () => {
    source.close();
  };
}

/** `null` for what is no envelope. */
function readEvent(name: string, data: unknown): EventAction | null {
  if (typeof data !== 'string') return null;
  const envelope: unknown = JSON.parse(data);
  if (!isPayload(envelope)) return null;
  const { payload } = envelope;
  const seq = numberOf(envelope, 'seq');
  if (!isPayload(payload) || seq === null) return null;
  const session = textOf(envelope, 'session');
  const turn = textOrNull(envelope, 'turn');
  return { type: 'event', name, session, turn, seq, payload, now: Date.now() };
}
