import { expectThat, serviceToken, type ServiceToken, type ToolInput } from '@celestea/core';

import { atOnce } from './shape.ts';
import { thrownText } from './thrown.ts';
import { readDecision } from './verdict.ts';
import { within } from './within.ts';

/** The longest time a timer of this platform can wait. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** What somebody is asked to approve: one call, and why a guard wants it approved. */
export interface ApprovalRequest {
  readonly call_id: string;
  readonly name: string;
  /** The arguments of the call. They come from a model: show them as text, never as markup. */
  readonly args: unknown;
  readonly reason: string;
}

/** What was decided. */
export type ApprovalVerdict = { kind: 'allow' } | { kind: 'deny'; reason: string };

/**
 * Who is asked when a guard answers `ask`: a person at a prompt, a page, a policy elsewhere.
 * Calls of one step run side by side, so `decide` can be called again before it has answered;
 * it is called once for each guard that asks.
 *
 * `options.signal` aborts when the answer is not waited for any more, because the call was
 * cancelled or its time is up: take the question back then. A late answer is ignored, a late
 * rejection consumed. Throwing, rejecting and answering anything but a verdict refuse the call.
 *
 * A `call_id` is unique in its log and not beyond: a service that several conversations share has
 * to tell them apart by something else.
 */
export interface ApprovalService {
  decide(request: ApprovalRequest, options: { signal?: AbortSignal }): Promise<ApprovalVerdict>;
}

/** Where a registry made by `toolRegistryPlugin` looks for its approval service, at each ask. */
export const APPROVAL_SERVICE: ServiceToken<ApprovalService> = serviceToken(
  'celestea.tools.ApprovalService',
);

/** How approvals are sought for one call. */
export interface ApprovalSettings {
  /** Looks for who can be asked; called at each ask. One that throws refuses the call. */
  find?: (() => ApprovalService | null | undefined) | undefined;
  /** How many milliseconds an answer is waited for; without it, as long as it takes. */
  timeoutMs?: number | undefined;
  /** Aborts when the call is cancelled. */
  signal?: AbortSignal | undefined;
}

/** What came of an ask. `open`: nobody decided; `why` says what kept them from it. */
export type ApprovalAnswer =
  | { kind: 'allow' }
  | { kind: 'deny'; reason: string }
  | { kind: 'open'; why: string };

/** Throws a `TypeError` unless the time limit is absent or a number of milliseconds over zero. */
export function checkApprovalTimeout(timeoutMs: unknown): void {
  const fits =
    timeoutMs === undefined ||
    (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS);
  const expected = `a number of milliseconds above 0 and up to ${String(MAX_TIMEOUT_MS)}`;
  expectThat(fits, 'approvalTimeoutMs', expected, timeoutMs);
}

/**
 * Asks for the approval of one call. Never rejects, and leaves neither a timer nor a listener
 * behind. Only a verdict that reads as `allow` allows.
 */
export async function seekApproval(
  input: ToolInput,
  reason: string,
  settings: ApprovalSettings,
): Promise<ApprovalAnswer> {
  const { signal, timeoutMs } = settings;
  if (signal?.aborted === true) return CANCELLED;
  let service: ApprovalService | null | undefined;
  try {
    service = atOnce('findApproval', settings.find?.());
  } catch (thrown) {
    const text = `the approval service could not be found: ${thrownText(thrown)}`;
    return { kind: 'deny', reason: text };
  }
  if (service === null || service === undefined) return NOBODY;
  const { call_id, name, args } = input;
  const asking = new AbortController();
  const request = Object.freeze({ call_id, name, args, reason });
  const answering = decide(service, request, asking.signal);
  const end = await within(answering, timeoutMs, signal);
  if (end === 'done') return answering;
  // It is settled before the service hears of it: nothing that is said now can count.
  const why = `needs approval, and none was given within ${String(timeoutMs)} ms`;
  asking.abort(end === 'cancel' ? signal?.reason : new Error(why));
  return end === 'cancel' ? CANCELLED : { kind: 'open', why };
}

const NOBODY: ApprovalAnswer = {
  kind: 'open',
  why: 'needs approval, and nobody is there to give it',
};

const CANCELLED: ApprovalAnswer = {
  kind: 'open',
  why: 'cancelled while approval was awaited',
};

/** Never rejects. */
async function decide(
  service: ApprovalService,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  try {
    const answer = await service.decide(request, { signal });
    const verdict = readDecision(answer, "the approval service's", 'allow or deny');
    // A service is there to answer: one that asks back has not allowed anything.
    return verdict.kind === 'ask' ? { kind: 'deny', reason: verdict.reason } : verdict;
  } catch (thrown) {
    return { kind: 'deny', reason: `the approval service failed: ${thrownText(thrown)}` };
  }
}
