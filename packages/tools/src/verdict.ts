import { describeValue, isRecord, type ToolDecision } from '@celestea/core';

import { cutText } from './text.ts';

const MAX_REASON = 2_000;

/**
 * A decision with a reason, whatever was left out of it. What cannot be read is a deny that
 * says `whose` verdict it was and what was expected: it must not read as an allow.
 */
export function readDecision(answer: unknown, whose: string, expected: string): ToolDecision {
  const unreadable = (came: string): ToolDecision => ({
    kind: 'deny',
    reason: `${whose} verdict is unreadable: expected ${expected}, got ${came}`,
  });
  if (!isRecord(answer)) return unreadable(describeValue(answer));
  const { kind, reason } = answer;
  switch (kind) {
    case 'allow':
      return { kind };
    case 'deny':
    case 'ask':
      return { kind, reason: reasonText(reason) };
    default:
      return unreadable(`kind ${describeValue(kind)}`);
  }
}

function reasonText(reason: unknown): string {
  const isTelling = typeof reason === 'string' && reason.trim() !== '';
  return isTelling ? cutText(reason, MAX_REASON).toWellFormed() : 'no reason given';
}
