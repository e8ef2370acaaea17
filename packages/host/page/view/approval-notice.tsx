import type { VNode } from 'preact';

import type { WireApproval } from '../../src/wire.ts';
import { Icon } from './icons.tsx';
import { InlineText } from './visible-text.tsx';

/** Says that calls wait, wherever the reader is in the conversation. */
export function ApprovalNotice({
  approvals,
}: {
  approvals: readonly WireApproval[];
}): VNode | null {
  const [oldest] = approvals;
  if (oldest === undefined) return null;
  const others = approvals.length - 1;
  const more = others === 0 ? '' : others === 1 ? ' and one more' : ` and ${String(others)} more`;
  return (
    <div class="approval-notice">
      <Icon name="waiting" />
      <p>
        <strong>
          <InlineText text={oldest.tool} />
        </strong>
        {more} waits for your approval.
      </p>
      <button type="button" class="quiet small" onClick={focusOldestApproval}>
        Show
      </button>
    </div>
  );
}

/** Brings the card of the oldest question into view, with the focus on it. */
export function focusOldestApproval(): void {
  const card = document.querySelector('[data-approval]')?.closest<HTMLElement>('[data-call]');
  card?.focus();
  card?.scrollIntoView({ block: 'start' });
}
