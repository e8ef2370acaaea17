/** What is known of a failure that a provider told. */
export interface FailureSigns {
  readonly status: number | null;
  /** Its `code`, `type` and `status`, where they are names. */
  readonly names: string;
  readonly words: string;
  readonly retryAfterMs: number | null;
}

const TOO_MANY_REQUESTS = 429;

/** Statuses after which the same request may succeed; all from 500 on are such too. */
const PASSING_STATUSES: readonly number[] = [408, 409, 425, TOO_MANY_REQUESTS];

/** Names, and words, that providers have for failures that pass. */
const PASSING =
  /overload|rate.?limit|too.?many|throttl|unavailable|resource.?exhausted|server.?error|internal|api_error|timeout|timed out|try again/i;

const RATE_LIMIT = /rate.?limit|too.?many.?requests|throttl/i;

/** Names for a request that stays wrong. */
const LASTING =
  /invalid_(?:request|api_key|argument)|authenticat|permission|not_found|failed_precondition/i;

/** A quota that is used up does not come back by waiting, though its status says so. */
const SPENT = /insufficient_quota|billing|credit|insufficient_balance|payment/i;

/**
 * Whether the same request may succeed later. A status decides, then what the failure is
 * called; its words only where it has neither, for they say many things.
 */
export function mayPass({ status, names, words, retryAfterMs }: FailureSigns): boolean {
  if (status !== null && !isPassingStatus(status)) return false;
  if (retryAfterMs !== null || RATE_LIMIT.test(names)) return true;
  // an adapter makes up a status of 500 for any error that it finds in a stream
  if (SPENT.test(names) || (status !== TOO_MANY_REQUESTS && LASTING.test(names))) return false;
  if (status !== null) {
    return status !== TOO_MANY_REQUESTS || names !== '' || !SPENT.test(words);
  }
  return names === '' ? PASSING.test(words) && !SPENT.test(words) : PASSING.test(names);
}

const isPassingStatus = (status: number): boolean =>
  status >= 500 || PASSING_STATUSES.includes(status);
