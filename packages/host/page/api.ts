import type { WireContext, WirePage, WireSession, WireState } from '../src/wire.ts';

/** Why the host refused, or could not be asked. */
export interface ApiFailure {
  /** The host's word for it, or `unreachable`. */
  readonly code: string;
  readonly message: string;
}

/** What came of a request; never an exception. */
export type ApiReply<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ApiFailure };

/** What is told of one session. */
interface OneSession {
  readonly session: WireSession;
}

/** How many rows are asked for at a time. */
const PAGE_ROWS = 200;

/** Every session, the one written last first. */
export function listSessions(): Promise<ApiReply<{ readonly sessions: readonly WireSession[] }>> {
  return ask('GET', '/sessions');
}

/** Makes an empty session. */
export function createSession(): Promise<ApiReply<OneSession>> {
  return ask('POST', '/sessions', {});
}

/** What a session is doing at one instant. */
export function readSession(id: string): Promise<ApiReply<OneSession & WireState>> {
  return ask('GET', `/sessions/${id}`);
}

/** The last rows before a place. */
export function readRows(id: string, before: number): Promise<ApiReply<WirePage>> {
  return ask('GET', `/sessions/${id}/messages?before=${String(before)}&limit=${String(PAGE_ROWS)}`);
}

/** What the next request to the model would be. */
export function readContext(id: string): Promise<ApiReply<{ readonly context: WireContext }>> {
  return ask('GET', `/sessions/${id}/context`);
}

/** Makes a session of the rows up to the end of a turn. */
export function forkSession(id: string, turn: string): Promise<ApiReply<OneSession>> {
  return ask('POST', `/sessions/${id}/fork`, { turn });
}

/** Starts a turn. */
export function startTurn(id: string, input: string): Promise<ApiReply<object>> {
  return ask('POST', `/sessions/${id}/turns`, { input });
}

/** Sends something to the turn that runs. */
export function steerTurn(id: string, input: string): Promise<ApiReply<object>> {
  return ask('POST', `/sessions/${id}/steer`, { input });
}

/** Cancels the turn that runs. */
export function cancelTurn(id: string): Promise<ApiReply<object>> {
  return ask('POST', `/sessions/${id}/cancel`, { reason: 'stopped by the user' });
}

/** Answers a question. An empty reason is none. */
export function answerApproval(
  id: string,
  approval: string,
  decision: 'allow' | 'deny',
  reason: string,
): Promise<ApiReply<object>> {
  const told = decision === 'deny' && reason !== '' ? { decision, reason } : { decision };
  return ask('POST', `/sessions/${id}/approvals/${approval}`, told);
}

async function ask<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<ApiReply<T>> {
  try {
    const init: RequestInit =
      body === undefined
        ? { method }
        : { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`/api${path}`, init);
    // The host checks its replies against the schemas that these types stand for.
    const reply = (await response.json()) as
      | (T & { readonly ok: true })
      | { readonly ok: false; readonly error: ApiFailure };
    return reply.ok ? { ok: true, value: reply } : { ok: false, error: reply.error };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'no answer';
    return { ok: false, error: { code: 'unreachable', message } };
  }
}
