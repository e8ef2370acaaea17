import { EventEmitter } from 'node:events';

import { isRecord } from '@celestea/core';

/**
 * Tells when the socket that a request came by has closed, at once when it has already, and never
 * without one; `env` is what a server says of a request. The function that comes back ends the
 * waiting.
 *
 * A server cancels only the response that it is sending: those that wait behind it on the same
 * socket hear of its end in no other way.
 */
export function whenSocketCloses(env: unknown, tell: () => void): () => void {
  const incoming = isRecord(env) ? env['incoming'] : null;
  const socket = isRecord(incoming) ? incoming['socket'] : null;
  if (!(socket instanceof EventEmitter)) return () => undefined;
  if ('destroyed' in socket && socket.destroyed === true) tell();
  socket.setMaxListeners(0); // one for each stream, of which there is a limit
  socket.once('close', tell);
  return () => {
    socket.off('close', tell);
  };
}
