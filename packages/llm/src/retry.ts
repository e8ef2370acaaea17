import { expectThat, isRecord, LlmError, type Llm } from '@celestea/core';

import { openReply, type EarlyFailure, type UsageEvent } from './first-event.ts';
import { expectHook, tell } from './hook.ts';
import { expectLlm } from './named-llm.ts';

/** What a {@link RetryPolicy} says about a try that comes. */
export interface RetryNotice {
  /** Which try comes, counted from 1; so from 2. */
  readonly attempt: number;
  /** How many tries there are at most. */
  readonly attempts: number;
  /** Milliseconds until then. */
  readonly delayMs: number;
  /** What the try before failed with. */
  readonly error: LlmError;
}

/** How often, and after which waits, a model is asked again. */
export interface RetryPolicy {
  /** How many tries may follow the first, a whole number from 0. Default 2. */
  readonly retries?: number;
  /**
   * Milliseconds to wait before the second try; doubled before each further one. Default 500,
   * or `maxDelayMs` where that is less.
   */
  readonly baseDelayMs?: number;
  /**
   * The longest wait in milliseconds, from `baseDelayMs` to 2147483647. Default 30000, or
   * `baseDelayMs` where that is more.
   */
  readonly maxDelayMs?: number;
  /** Told before each wait; what it throws is ignored. */
  readonly onRetry?: (notice: RetryNotice) => void;
  /**
   * Where in its upper half a wait falls: from 0 (half of it) to 1 (all of it), so that clients
   * that failed together do not come back together. What it throws, `generate` rejects with.
   * Default `Math.random`.
   */
  readonly random?: () => number;
}

const LONGEST_DELAY = 2 ** 31 - 1;
/** Doubled this often, any base is beyond the longest delay, and still a finite number. */
const MOST_DOUBLINGS = 64;

/**
 * A model that is asked again when it fails and the same request may succeed later: when it
 * rejects, or throws before the first event of its stream, with an {@link LlmError} that is
 * `retryable` (C2.4). Once any event but `usage` came, nothing is asked again; what the tries
 * cost is told with the reply that stands. A `failed` event
 * carries no class and an empty reply says nothing, so both are passed on, like any other error.
 *
 * `generate` settles when there is a first event or no try is left; the waits are part of it,
 * and a limit that the caller sets on it counts them. The wait before try n + 1 is
 * `baseDelayMs` doubled n - 1 times, at most `maxDelayMs`, of which `random` takes up to a half
 * away; or what the provider asked for, `retryAfterMs`, where that is longer. When the provider
 * asks for more than `maxDelayMs`, there is no further try: the host decides. The failure of the
 * last try stands as it is.
 *
 * An abort ends a try and a wait at once, with the signal's reason, and no try follows it. Each
 * `generate` counts its own tries.
 *
 * @throws TypeError naming the option that is not what it should be.
 *
 * @example
 * const llm = withRetry(model, { retries: 3, onRetry: ({ delayMs }) => show(delayMs) });
 */
export function withRetry(llm: Llm, policy: RetryPolicy = {}): Llm {
  expectLlm('llm', llm);
  const plan = readPolicy(policy);
  return {
    generate: async (request, options) => {
      let before: readonly UsageEvent[] = [];
      for (let attempt = 1; ; attempt += 1) {
        const { failure, spent, reply } = await openReply(llm, request, options, before);
        before = spent;
        const error = retryableError(failure);
        const delayMs = error === null ? null : delayAfter(attempt, error, plan);
        if (error === null || delayMs === null) return reply;
        const { attempts } = plan;
        tell(plan.onRetry, { attempt: attempt + 1, attempts, delayMs, error });
        await pause(delayMs, options?.signal);
        options?.signal?.throwIfAborted();
      }
    },
  };
}

function retryableError(failure: EarlyFailure | null): LlmError | null {
  if (failure?.kind !== 'threw') return null;
  const { error } = failure;
  return error instanceof LlmError && error.retryable ? error : null;
}

/** Milliseconds to wait after a failed try; `null` when no other may follow. */
function delayAfter(attempt: number, error: LlmError, plan: RetryPlan): number | null {
  if (attempt >= plan.attempts) return null;
  // An adapter may have read nonsense from a header: anything but a positive number is none.
  const { retryAfterMs } = error;
  const asked = retryAfterMs !== null && retryAfterMs > 0 ? retryAfterMs : 0;
  if (asked > plan.maxDelayMs) return null;
  const grown = plan.baseDelayMs * 2 ** Math.min(attempt - 1, MOST_DOUBLINGS);
  const whole = Math.min(grown, plan.maxDelayMs);
  const backOff = Math.floor((whole * (1 + plan.random())) / 2);
  return Math.max(backOff, Math.ceil(asked));
}

interface RetryPlan {
  readonly attempts: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  readonly onRetry: RetryPolicy['onRetry'];
  readonly random: () => number;
}

function readPolicy(policy: RetryPolicy): RetryPlan {
  const isObject: boolean = isRecord(policy); // a test that does not narrow
  expectThat(isObject, 'policy', 'an object such as { retries: 2 }', policy);
  const { retries = 2, onRetry, random = Math.random } = policy;
  const isCount = Number.isSafeInteger(retries) && retries >= 0;
  expectThat(isCount, 'retries', 'a whole number from 0', retries);
  expectDelay('baseDelayMs', policy.baseDelayMs);
  expectDelay('maxDelayMs', policy.maxDelayMs);
  const baseDelayMs = policy.baseDelayMs ?? Math.min(500, policy.maxDelayMs ?? 500);
  const maxDelayMs = policy.maxDelayMs ?? Math.max(30_000, baseDelayMs);
  const atLeast = `at least baseDelayMs (${String(baseDelayMs)})`;
  expectThat(maxDelayMs >= baseDelayMs, 'maxDelayMs', atLeast, maxDelayMs);
  expectHook('onRetry', onRetry);
  expectHook('random', random);
  return { attempts: retries + 1, baseDelayMs, maxDelayMs, onRetry, random };
}

function expectDelay(name: string, came: unknown): void {
  const fits = typeof came === 'number' && came >= 0 && came <= LONGEST_DELAY;
  const expected = `milliseconds from 0 to ${String(LONGEST_DELAY)}`;
  expectThat(came === undefined || fits, name, expected, came);
}

/**
 * Waits, at most until the signal aborts; then its timer and its listener are gone. No time
 * at all is no wait.
 */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (milliseconds <= 0 || signal?.aborted === true) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
  });
}
