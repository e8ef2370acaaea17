import { describeValue, type ToolDecision, type ToolGuard, type ToolInput } from '@celestea/core';

import { isRecord } from './shape.ts';
import { cutText } from './text.ts';
import { thrownText } from './thrown.ts';

const MAX_REASON = 2_000;

/**
 * Asks the guards in order; the first verdict that is not `allow` ends the chain (C3.6).
 * `null` when there is no guard. Never rejects: a guard that throws, rejects or answers
 * nonsense denies, for a check that did not take place must not read as passed.
 */
export async function judgeCall(
  guards: readonly ToolGuard[],
  input: ToolInput,
): Promise<ToolDecision | null> {
  let decision: ToolDecision | null = null;
  for (const guard of guards) {
    decision = await askGuard(guard, input);
    if (decision.kind !== 'allow') return decision;
  }
  return decision;
}

async function askGuard(guard: ToolGuard, input: ToolInput): Promise<ToolDecision> {
  try {
    return readDecision(await guard.check(input));
  } catch (thrown) {
    return deny(`a guard failed: ${thrownText(thrown)}`);
  }
}

/** A verdict with a reason, whatever the guard left out. */
function readDecision(answer: unknown): ToolDecision {
  if (!isRecord(answer)) return deny(unreadable(describeValue(answer)));
  const { kind, reason } = answer;
  switch (kind) {
    case 'allow':
      return { kind };
    case 'deny':
    case 'ask':
      return { kind, reason: reasonText(reason) };
    default:
      return deny(unreadable(`kind ${describeValue(kind)}`));
  }
}

const unreadable = (came: string): string =>
  `a guard's verdict is unreadable: expected allow, deny or ask, got ${came}`;

const deny = (reason: string): ToolDecision => ({ kind: 'deny', reason });

const reasonText = (reason: unknown): string =>
  typeof reason === 'string' && reason.trim() !== ''
    ? cutText(reason, MAX_REASON)
    : 'no reason given';
