import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { Conversation, Undelivered } from '../model/view.ts';
import { InlineText } from './visible-text.tsx';

interface ComposerProps {
  /** Whose text it is; `null` of a session that is not made yet. */
  readonly session: string | null;
  readonly view: Conversation;
  readonly isEnabled: boolean;
  /** Sends or steers; `true` when the host took it. */
  readonly send: (input: string) => Promise<boolean>;
  readonly stop: () => void;
  /** Which of the lines that a turn left are to be written here again. */
  readonly takeBack: (undelivered: Undelivered) => readonly string[];
}

/** Where a person writes: a turn's beginning, or while one runs a line that steers it. */
export function Composer(props: ComposerProps): VNode {
  const { session, view, isEnabled, send, stop, takeBack } = props;
  const [text, setText] = useDraft(session);
  const [isSending, setSending] = useState(false);
  const isRunning = view.running !== null;
  useGivenBack(view, takeBack, setText);
  const submit = async (): Promise<void> => {
    if (text.trim() === '' || isSending || !isEnabled) return;
    setSending(true);
    const isTaken = await send(text);
    setSending(false);
    // what was written meanwhile stays
    if (isTaken) setText((now) => (now === text ? '' : now));
  };
  return (
    <form
      class="composer"
      aria-label="Write to the agent"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <WaitingLines lines={view.waiting} />
      <div class={isRunning ? 'composer-row is-running' : 'composer-row'}>
        <label class="unseen" for="message">
          Message
        </label>
        <textarea
          id="message"
          rows={1}
          value={text}
          placeholder={
            isRunning ? 'Say something to the turn that runs' : 'Ask or tell the agent something'
          }
          dir="auto"
          aria-describedby="composer-hint"
          onInput={(event) => {
            const { value } = event.currentTarget;
            setText(() => value);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void submit();
          }}
        />
        <button
          type="submit"
          class="primary"
          disabled={!isEnabled || text.trim() === '' || isSending}
        >
          {isRunning ? 'Steer' : 'Send'}
        </button>
        {isRunning && (
          <button type="button" class="stop" onClick={stop}>
            Stop
          </button>
        )}
      </div>
      <p id="composer-hint" class="hint keys-hint">
        {isRunning
          ? 'Enter steers: it is read before the next step. Escape stops, when nothing is written.'
          : 'Enter sends, Shift+Enter starts a new line.'}
      </p>
    </form>
  );
}

/** What was written and not sent, by session: it is there again when the reader comes back. */
const drafts = new Map<string | null, string>();

function useDraft(session: string | null): [string, (change: (text: string) => string) => void] {
  const [text, setText] = useState(drafts.get(session) ?? '');
  useEffect(() => {
    drafts.set(session, text);
  }, [session, text]);
  return [text, setText];
}

/** Lines that no turn took come back, to be sent again or thrown away. */
function useGivenBack(
  { undelivered }: Conversation,
  takeBack: ComposerProps['takeBack'],
  setText: (change: (text: string) => string) => void,
): void {
  const seen = useRef(undelivered.number);
  useEffect(() => {
    if (undelivered.number === seen.current) return;
    seen.current = undelivered.number;
    const lines = takeBack(undelivered.value).join('\n');
    if (lines !== '') setText((text) => (text === '' ? lines : `${lines}\n${text}`));
  }, [undelivered]);
}

function WaitingLines({ lines }: { lines: readonly string[] }): VNode | null {
  if (lines.length === 0) return null;
  return (
    <div class="waiting-lines">
      <p id="waiting-lines" class="hint">
        Not read by the turn yet:
      </p>
      <ul tabIndex={0} aria-labelledby="waiting-lines">
        {lines.map((line, index) => (
          <li key={index}>
            <InlineText text={line} />
          </li>
        ))}
      </ul>
    </div>
  );
}
