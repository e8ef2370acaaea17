import type { VNode } from 'preact';
import { useId, useState } from 'preact/hooks';

import type { WireApproval } from '../../src/http/wire.ts';
import type { Actions } from './actions.ts';

interface ApprovalProps {
  readonly approval: WireApproval;
  readonly answer: Actions['answer'];
}

/** A question that waits for Allow or Deny. */
export function ApprovalBox({ approval, answer }: ApprovalProps): VNode {
  const [reason, setReason] = useState('');
  const [isSent, setSent] = useState(false);
  const id = useId();
  const send = (decision: 'allow' | 'deny') => (event: Event): void => {
    setSent(true);
    keepFocus(event.currentTarget);
    void answer(approval.id, decision, reason.trim()).finally(() => {
      setSent(false);
    });
  };
  return (
    <section class="approval" data-approval={approval.id} aria-label={`Approve ${approval.tool}?`}>
      <p>
        <strong>May {approval.tool} run?</strong> {approval.reason}
      </p>
      <div class="approval-buttons">
        <button type="button" class="allow" disabled={isSent} onClick={send('allow')}>
          Allow
        </button>
        <button type="button" class="deny" disabled={isSent} onClick={send('deny')}>
          Deny
        </button>
        <label class="approval-reason" for={id}>
          <span>Reason to deny (optional)</span>
          <input
            id={id}
            type="text"
            maxLength={1000}
            value={reason}
            autoComplete="off"
            onInput={(event) => {
              setReason(event.currentTarget.value);
            }}
          />
        </label>
      </div>
      <p class="hint keys-hint">
        With the focus on this card, <kbd>a</kbd> allows and <kbd>d</kbd> denies.
      </p>
    </section>
  );
}

/** The button goes away with the question: the focus stays on the card. */
function keepFocus(button: EventTarget | null): void {
  if (button instanceof Element) button.closest<HTMLElement>('[data-call]')?.focus();
}
