import { describeValue } from '@celestea/core';

import { eventStream } from '../events/index.ts';
import { ApiError } from './api-error.ts';
import type { Hub } from './hub.ts';
import { defineRoute, type Route } from './route.ts';
import * as schemas from './schemas.ts';

/** How long a reader is to wait before it connects again, in milliseconds. */
const RETRY_MS = 1000;
/** When a slot may be free again, in seconds: nobody knows. */
const SLOT_RETRY_S = '5';

/** Begins with the first event that is kept, whatever its seq is. */
const FROM_FIRST = -1;

/** `X-Accel-Buffering` is for a proxy that would hold events back. */
const HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
  Connection: 'close', // so that the end of the stream lets go of the port
};

/** The routes that tell of events. */
export const eventRoutes = (hub: Hub): Route[] => [
  defineRoute({
    ...schemas.nothingAsked,
    method: 'get',
    path: '/sessions/{id}/events',
    operation: 'streamEvents',
    summary:
      'What happens in a session, as server-sent events: first what came after the ' +
      'Last-Event-ID, of the header or else of the query, then what comes. Without one, only ' +
      'what comes. Leaving cancels nothing.',
    params: schemas.sessionParams,
    query: schemas.eventsQuery,
    reply: {
      status: 200,
      description: 'The envelopes of contracts/sse-events.json, each the data of an event.',
      schema: null,
    },
    refusals: ['not_found', 'gone'],
    answer: async ({ params: { id }, query, request, whenGone }) => {
      await hub.store.summary(id);
      const seq = seqOf(request.headers.get('last-event-id') ?? '') ?? query.lastEventId ?? null;
      if (request.method === 'HEAD') return new Response(null, { headers: HEADERS });
      if (hub.closing.aborted) throw new ApiError('gone', 'the host is closed');
      return new Response(openStream(hub, id, seq, whenGone), { headers: HEADERS });
    },
  }),
];

/** Where a `Last-Event-ID` says to go on, by the rules of the query; `null` for an empty one. */
function seqOf(header: string): number | null {
  if (header === '') return null;
  const seq = /^(?:-1|[0-9]+)$/.test(header) ? Number(header) : NaN;
  if (Number.isSafeInteger(seq)) return seq;
  const expected = 'a whole number from -1';
  const came = describeValue(header);
  const details = { issues: [{ field: 'Last-Event-ID', expected, came }] };
  throw new ApiError('invalid', `Last-Event-ID: expected ${expected}, got ${came}`, { details });
}

function openStream(
  hub: Hub,
  id: string,
  lastEventId: number | null,
  whenGone: (tell: () => void) => () => void,
): ReadableStream<Uint8Array> {
  if (hub.readers >= hub.options.streams) {
    const headers = { 'Retry-After': SLOT_RETRY_S };
    throw new ApiError('too_many', 'too many streams are open', { headers });
  }
  const ring = hub.rings.of(id);
  return eventStream(ring, {
    lastEventId: lastEventId === FROM_FIRST ? ring.firstSeq - 1 : lastEventId,
    heartbeatMs: hub.options.heartbeatMs,
    retryMs: RETRY_MS,
    snapshot: () => {
      hub.observer.onLag(id); // only who lagged is sent one
      return hub.now(id);
    },
    join: (close) => {
      hub.readers += 1;
      const release = hub.rings.hold(id);
      const forget = whenGone(close);
      hub.closing.addEventListener('abort', close);
      return () => {
        hub.closing.removeEventListener('abort', close);
        forget();
        release();
        hub.readers -= 1;
      };
    },
  });
}
