import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

import { isRecord } from '@celestea/core';

import type { Address } from './protocol.ts';

/** A request on a connection of its own, so that none is left open. */
export function send(address: Address, method: string, path: string): ClientRequest {
  const { port, token } = address;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return request({ host: '127.0.0.1', port, method, path: `/api${path}`, headers, agent: false });
}

/** Settles with the head of the answer; rejects unless it is a success. */
export async function answered(sent: ClientRequest): Promise<IncomingMessage> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve).on('error', reject);
  });
  const { statusCode = 0 } = response;
  if (statusCode >= 200 && statusCode < 300) return response;
  throw new Error(`${sent.method} ${sent.path}: ${String(statusCode)} ${await text(response)}`);
}

/** Asks for JSON. */
export async function ask(
  address: Address,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const sent = send(address, method, path);
  sent.end(method === 'POST' ? JSON.stringify(body ?? {}) : undefined);
  const reply: unknown = JSON.parse(await text(await answered(sent)));
  if (isRecord(reply)) return reply;
  throw new Error(`${method} ${path}: expected an object`);
}

/** Makes a session and gives its id. */
export async function createSession(address: Address): Promise<string> {
  const { session } = await ask(address, 'POST', '/sessions');
  return String(isRecord(session) ? session['id'] : '');
}

/** The seq of the last event of a session. */
export async function lastEventOf(address: Address, session: string): Promise<number> {
  return Number((await ask(address, 'GET', `/sessions/${session}`))['last_event_id']);
}

/** Whether a turn runs in a session. */
export async function isRunning(address: Address, session: string): Promise<boolean> {
  return (await ask(address, 'GET', `/sessions/${session}`))['running'] !== null;
}
