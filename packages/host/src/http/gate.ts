import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';

import { bearerToken, type AccessToken } from './access-token.ts';
import { ApiError } from './api-error.ts';
import { isOwnOrigin, type HostNames } from './host-names.ts';

/** What a request has to pass before anything looks at it. */
export interface Gate {
  readonly token: AccessToken;
  readonly names: HostNames;
  readonly rate: RateLimit;
  /** For what must not wait for the rest. */
  readonly urgentRate: RateLimit;
  /** Whether a request is counted apart from the rest. */
  readonly isUrgent: (c: Context) => boolean;
}

const MINUTE_MS = 60_000;

/** So many requests a minute: all may come at once, then one at a time as time goes by. */
export class RateLimit {
  readonly #perMinute: number;
  #left: number;
  /** On the clock that never goes back, in milliseconds. */
  #since: number;

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
    this.#left = perMinute;
    this.#since = performance.now();
  }

  /** Counts a request; gives the seconds to wait when it is one too many, else `null`. */
  take(): number | null {
    const now = performance.now();
    const grown = ((now - this.#since) / MINUTE_MS) * this.#perMinute;
    this.#since = now;
    this.#left = Math.min(this.#perMinute, this.#left + grown);
    if (this.#left >= 1) {
      this.#left -= 1;
      return null;
    }
    const missingMs = ((1 - this.#left) / this.#perMinute) * MINUTE_MS;
    return Math.max(1, Math.ceil(missingMs / 1000));
  }
}

/**
 * Whether a request is asked of this host by one of its names.
 *
 * @throws ApiError `forbidden`
 */
export function checkHost(c: Context, { names }: Gate): void {
  if (names.allows(hostOf(c))) return;
  throw new ApiError('forbidden', 'Host: expected a name of this host');
}

/**
 * Refuses what the page of another site asks for, this machine's other ports included.
 *
 * @throws ApiError `forbidden`
 */
export function checkSite(c: Context): void {
  const origin = c.req.header('origin');
  if (origin !== undefined && !isOwnOrigin(origin, hostOf(c))) {
    throw new ApiError('forbidden', 'Origin: expected the one of this host, or none');
  }
  const site = c.req.header('sec-fetch-site') ?? 'none';
  if (site === 'none' || site === 'same-origin') return;
  throw new ApiError('forbidden', 'Sec-Fetch-Site: expected same-origin or none');
}

/**
 * Refuses who does not show the token, and who asks too often with it. An `Authorization` that
 * is there decides alone.
 *
 * @throws ApiError `unauthorized` or `too_many`
 */
export function checkToken(c: Context, gate: Gate): void {
  if (!showsToken(c, gate)) {
    const headers = { 'WWW-Authenticate': 'Bearer' };
    throw new ApiError('unauthorized', 'expected the token of this host', { headers });
  }
  const { rate, urgentRate, isUrgent } = gate;
  checkRate(isUrgent(c) ? urgentRate : rate);
}

/** Counts a request. Throws an {@link ApiError} `too_many` when it is one too many. */
export function checkRate(rate: RateLimit): void {
  const seconds = rate.take();
  if (seconds === null) return;
  const headers = { 'Retry-After': String(seconds) };
  throw new ApiError('too_many', 'too many requests', { headers });
}

/** Whether the token came in a header or in the cookie. */
export function showsToken(c: Context, { token }: Gate): boolean {
  const header = c.req.header('authorization');
  return token.fits(header === undefined ? getCookie(c, token.cookieName) : bearerToken(header));
}

const hostOf = (c: Context): string => c.req.header('host') ?? new URL(c.req.url).host;
