import type { VNode } from 'preact';
import { useId, useState } from 'preact/hooks';

import type { WireApproval } from '../../src/wire.ts';
import { visibleText } from '../model/visible-text.ts';
import type { Actions } from './actions.ts';
import { InlineText } from './visible-text.tsx';

/** What of the arguments is not shown. */
export interface Unseen {
  readonly words: string;
  /** `null` when they cannot be shown. */
  readonly showAll: (() => void) | null;
}

interface ApprovalProps {
  readonly approval: WireApproval;
  readonly answer: Actions['answer'];
  /** `null` when all arguments are shown. */
  readonly unseen: Unseen | null;
}

/** A question that waits for Allow or Deny. */
export function ApprovalBox({ approval, answer, unseen }: ApprovalProps): VNode {
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
    <section
      class="approval"
      data-approval={approval.id}
      aria-label={`Approve ${visibleText(approval.tool)}?`}
    >
      <p>
        <strong>
          May <InlineText text={approval.tool} /> run?
        </strong>{' '}
        <InlineText text={approval.reason} />
      </p>
      {unseen !== null && <UnseenNotice unseen={unseen} />}
      <div class="approval-buttons">
        <button
          type="button"
          class="allow"
          data-unseen={unseen === null ? undefined : ''}
          disabled={isSent}
          onClick={send('allow')}
        >
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
        With the focus on this card, <kbd>a</kbd> allows{unseen !== null && WHEN_SEEN} and{' '}
        <kbd>d</kbd> denies.
      </p>
    </section>
  );
}

const WHEN_SEEN = ' (only when all arguments are shown)';

/** Nobody is to allow what they have not seen without being told so. */
function UnseenNotice({ unseen: { words, showAll } }: { unseen: Unseen }): VNode {
  return (
    <div class="approval-unseen" tabIndex={-1}>
      <p>
        <strong>Not all arguments are shown.</strong> {words}
      </p>
      {showAll !== null && (
        <button
          type="button"
          onClick={(event) => {
            keepFocus(event.currentTarget);
            showAll();
          }}
        >
          Show all arguments
        </button>
      )}
    </div>
  );
}

/** The button goes away with the question: the focus stays on the card. */
function keepFocus(button: EventTarget | null): void {
  if (button instanceof Element) button.closest<HTMLElement>('[data-call]')?.focus();
}
