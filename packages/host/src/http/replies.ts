import { serdeJsonString } from '@celestea/core';

import type { AccessToken } from './access-token.ts';
import type { ApiError } from './api-error.ts';
import type { Answer, RouteReply } from './route.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** What stands in the head of every response. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

const CACHING = 'Cache-Control';

/** Adds what stands in the head of every response. Only what says so itself may be kept. */
export function secure(headers: Headers): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) headers.set(name, value);
  if (!headers.has(CACHING)) headers.set(CACHING, 'no-store');
}

/** What a handler gave, in its envelope. Anything can be written; a reply never fails. */
export function successReply(answer: Answer, { status }: RouteReply): Response {
  if (answer instanceof Response) return answer;
  const { fields, headers } = answer;
  const envelope = { ok: true, ...fields };
  return new Response(serdeJsonString(envelope), { status, headers: { ...JSON_TYPE, ...headers } });
}

/** A refusal in its envelope. What a caller wrote may be in there; the token never is. */
export function errorReply(error: ApiError, token: AccessToken): Response {
  const { code, message, details, status, headers } = error;
  const told = details === undefined ? {} : { details };
  const envelope = { ok: false, error: { code, message, ...told } };
  const text = token.redact(serdeJsonString(envelope));
  return new Response(text, { status, headers: { ...JSON_TYPE, ...headers } });
}
