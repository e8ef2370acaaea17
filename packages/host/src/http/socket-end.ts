import { EventEmitter } from 'node:events';

import { isRecord } from '@celestea/core';

/** What is used of a socket. */
interface RequestSocket extends EventEmitter {
  readonly destroyed: boolean;
}

/** Who waits for a socket to close; one listener for all of them, however many there are. */
const waiting = new WeakMap<RequestSocket, Set<() => void>>();

/** The socket that a request came by, of what its server says of it; `null` without a server. */
export function socketOf(env: unknown): RequestSocket | null {
  const incoming = isRecord(env) ? env['incoming'] : null;
  const socket = isRecord(incoming) ? incoming['socket'] : null;
  return isSocket(socket) ? socket : null;
}

const isSocket = (value: unknown): value is RequestSocket =>
  value instanceof EventEmitter && 'destroyed' in value && typeof value.destroyed === 'boolean';

/**
 * Tells once when the socket has closed, at once when it has already, and never without one.
 * The function that comes back ends the waiting.
 *
 * A server cancels only the response that it is sending: those that wait behind it on the same
 * socket hear of its end in no other way.
 */
export function whenSocketCloses(
  socket: RequestSocket | null,
  tell: () => void,
): () => void {
  if (socket === null) return () => undefined;
  if (socket.destroyed) {
    tell();
    return () => undefined;
  }
  const tells = waiting.get(socket) ?? listenTo(socket);
  tells.add(tell);
  return () => {
    tells.delete(tell);
  };
}

/** The listener stays with its socket: it is one, and holds nobody who waits no more. */
function listenTo(socket: RequestSocket): Set<() => void> {
  const tells = new Set<() => void>();
  waiting.set(socket, tells);
  socket.once('close', () => {
    for (const tell of tells) tell();
  });
  return tells;
}
