import { serdeJsonString } from '@celestea/core';
import type { ApprovalRequest } from '@celestea/tools';

import type { Decision } from './approvals.ts';
import { safeLine } from './safe-text.ts';
import type { Style } from './style.ts';

const LONGEST_NAME = 80;
/** Far more than elsewhere: who allows a call has to see what it does. */
const LONGEST_ARGS = 2_000;
const LONGEST_REASON = 200;

/** What can be answered. */
export const CHOICES = 'allow? [y]es / [n]o, because… / [a]lways for this tool';

/** The question as it is shown: nothing of it can steer a terminal. */
export function questionLines({ name, args, reason }: ApprovalRequest, style: Style): string[] {
  const text = serdeJsonString(args);
  const hidden = Array.from(text).length - LONGEST_ARGS;
  return [
    `${style.yellow('?')} ${style.bold(safeLine(name, LONGEST_NAME))} ` +
      safeLine(text, LONGEST_ARGS),
    ...(hidden > 0 ? [style.red(`  ${String(hidden)} more characters are not shown`)] : []),
    style.dim(`  ${safeLine(reason, LONGEST_REASON)}`),
    `  ${CHOICES}`,
  ];
}

/** The decision, on one line. */
export function decisionLine(name: string, decision: Decision): string {
  const tool = safeLine(name, LONGEST_NAME);
  switch (decision.kind) {
    case 'allowed':
      return `${tool}: allowed`;
    case 'always':
      return `${tool}: allowed, and from now on always`;
    case 'allowed before':
      return `${tool}: allowed, as always`;
    case 'refused':
      return `${tool}: refused: ${safeLine(decision.reason, LONGEST_REASON)}`;
    case 'withdrawn':
      return `${tool}: not decided; the question is withdrawn`;
    default:
      return decision satisfies never;
  }
}
