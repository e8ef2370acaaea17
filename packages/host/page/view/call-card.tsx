import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import type { WireApproval } from '../../src/wire.ts';
import { callState, CALL_STATE_WORDS, type CallState } from '../model/call-state.ts';
import { gistOf, resultText, wholeText } from '../model/result-text.ts';
import type { CallItem, CallResult } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { countWords, durationWords } from '../model/words.ts';
import type { Actions } from './actions.ts';
import { ApprovalBox, type Unseen } from './approval-box.tsx';
import { Elapsed } from './elapsed.tsx';
import { Fold } from './fold.tsx';
import { Icon } from './icons.tsx';
import { CutText, LongText, SHOWN } from './long-text.tsx';
import { InlineText, VisibleText } from './visible-text.tsx';

interface CallProps {
  readonly call: CallItem;
  readonly approval: WireApproval | null;
  readonly isLive: boolean;
  readonly actions: Actions;
}

/** A call of a tool: what was asked, where it stands, what came of it. */
export function CallCard({ call, approval, isLive, actions }: CallProps): VNode {
  const state = callState(call, approval, isLive);
  const name = call.name === '' ? 'a tool' : call.name;
  const label = visibleText(name);
  const args = useArguments(call, state === 'waiting' ? approval : null);
  return (
    <article
      class={`call call-${state}`}
      data-call={call.id}
      data-state={state}
      tabIndex={-1}
      aria-label={`Call of ${label}, ${CALL_STATE_WORDS[state]}`}
    >
      <header>
        <Icon name={state} />
        <strong class="call-name">
          <InlineText text={name} />
        </strong>
        <code class="call-gist" dir="ltr">
          <VisibleText text={args.gist} />
        </code>
        <span class="call-state">{CALL_STATE_WORDS[state]}</span>
        <CallTime call={call} state={state} />
      </header>
      {call.result !== null && <Outcome result={call.result} state={state} />}
      {approval !== null && state === 'waiting' && (
        <ApprovalBox approval={approval} answer={actions.answer} unseen={args.unseen} />
      )}
      {args.text !== '' && (
        <Fold label="Arguments" isOpen={state === 'waiting'}>
          {() => (
            <CutText
              text={args.text}
              label={`Arguments of ${label}`}
              isWhole={args.isAsked}
              showAll={args.showAll}
            />
          )}
        </Fold>
      )}
      {call.result !== null && <Result result={call.result} name={label} />}
    </article>
  );
}

interface Arguments {
  readonly gist: string;
  readonly text: string;
  /** Whether somebody asked for all of a long text. */
  readonly isAsked: boolean;
  readonly showAll: () => void;
  /** What of them is not shown; `null` when all is. */
  readonly unseen: Unseen | null;
}

/** The arguments: while it waits those that are asked about. */
function useArguments(call: CallItem, approval: WireApproval | null): Arguments {
  const [isAsked, setAsked] = useState(false);
  const value = approval === null ? call.args : approval.args;
  const { gist, text, isWhole } = useMemo(() => {
    const none = value === null || value === undefined;
    return { gist: gistOf(value), ...(none ? NO_TEXT : wholeText(value)) };
  }, [value]);
  const showAll = (): void => {
    setAsked(true);
  };
  const isCut = text.length > SHOWN && !isAsked;
  const shown = `${countWords(SHOWN)} of ${countWords(text.length)} characters are shown.`;
  const words = [isCut ? shown : '', isWhole ? '' : 'They are too large or nested too deep.'];
  const unseen = { words: words.join(' ').trim(), showAll: isCut ? showAll : null };
  return { gist, text, isAsked, showAll, unseen: isCut || !isWhole ? unseen : null };
}

const NO_TEXT = { text: '', isWhole: true };

function CallTime({ call, state }: { call: CallItem; state: CallState }): VNode | null {
  if (call.startedMs === null) return null;
  if (call.endedMs !== null) {
    return <span class="call-time numbers">{durationWords(call.endedMs - call.startedMs)}</span>;
  }
  if (state !== 'running' && state !== 'waiting') return null;
  return (
    <span class="call-time">
      <Elapsed sinceMs={call.startedMs} />
    </span>
  );
}

/** What can be said on one line: the failure, else what the tool says to people. */
function Outcome({ result, state }: { result: CallResult; state: CallState }): VNode | null {
  if (state === 'abandoned') {
    return (
      <p class="call-line">It had started when the turn ended. Its effects may still happen.</p>
    );
  }
  if (result.error !== null) {
    return (
      <p class="call-line call-error">
        <InlineText text={result.error} />
      </p>
    );
  }
  if (result.render === null) return null;
  return (
    <p class="call-line">
      <InlineText text={result.render} />
    </p>
  );
}

function Result({ result, name }: { result: CallResult; name: string }): VNode | null {
  const { parts, cut } = useMemo(() => resultText(result.value), [result.value]);
  if (parts.length === 0) return null;
  return (
    <>
      {cut !== null && (
        <p class="call-line call-cut">
          <strong>Cut:</strong> <InlineText text={cut} />
        </p>
      )}
      <Fold label="Result" isOpen={false}>
        {() =>
          parts.map(({ label, text }) => (
            <div key={label}>
              {label !== '' && (
                <p class="part-label">
                  <InlineText text={label} />
                </p>
              )}
              <LongText text={text} label={`${resultLabel(label)} of ${name}`} />
            </div>
          ))
        }
      </Fold>
    </>
  );
}

const resultLabel = (label: string): string => (label === '' ? 'Result' : visibleText(label));
