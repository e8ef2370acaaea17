import type { VNode } from 'preact';

import type { WireApproval } from '../../src/http/wire.ts';
import { callState, CALL_STATE_WORDS, type CallState } from '../model/call-state.ts';
import { resultText, valueText } from '../model/result-text.ts';
import type { CallItem, CallResult } from '../model/view.ts';
import { durationWords } from '../model/words.ts';
import type { Actions } from './actions.ts';
import { ApprovalBox } from './approval-box.tsx';
import { Elapsed } from './elapsed.tsx';
import { Fold } from './fold.tsx';
import { Icon } from './icons.tsx';
import { LongText } from './long-text.tsx';

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
  const args = call.args === null || call.args === undefined ? '' : valueText(call.args);
  return (
    <article
      class={`call call-${state}`}
      data-call={call.id}
      data-state={state}
      tabIndex={-1}
      aria-label={`Call of ${name}, ${CALL_STATE_WORDS[state]}`}
    >
      <header>
        <Icon name={state} />
        <strong class="call-name">{name}</strong>
        <code class="call-gist">{gistOf(call.args)}</code>
        <span class="call-state">{CALL_STATE_WORDS[state]}</span>
        <CallTime call={call} state={state} />
      </header>
      {call.result !== null && <Outcome result={call.result} state={state} />}
      {approval !== null && state === 'waiting' && (
        <ApprovalBox approval={approval} answer={actions.answer} />
      )}
      {args !== '' && (
        <Fold label="Arguments" isOpen={state === 'waiting'}>
          {() => <LongText text={args} label={`Arguments of ${name}`} />}
        </Fold>
      )}
      {call.result !== null && <Result result={call.result} name={name} />}
    </article>
  );
}

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
    const text = state === 'denied' ? result.error.replace(/^denied: /, '') : result.error;
    return <p class="call-line call-error">{state === 'denied' ? `Reason: ${text}` : text}</p>;
  }
  return result.render === null ? null : <p class="call-line">{result.render}</p>;
}

function Result({ result, name }: { result: CallResult; name: string }): VNode | null {
  const { parts, cut } = resultText(result.value);
  if (parts.length === 0) return null;
  return (
    <>
      {cut !== null && (
        <p class="call-line call-cut">
          <strong>Cut:</strong> {cut}
        </p>
      )}
      <Fold label="Result" isOpen={false}>
        {() =>
          parts.map(({ label, text }) => (
            <div key={label}>
              {label !== '' && <p class="part-label">{label}</p>}
              <LongText text={text} label={`${label === '' ? 'Result' : label} of ${name}`} />
            </div>
          ))
        }
      </Fold>
    </>
  );
}

/** The arguments on one line: of one text alone, that text. */
function gistOf(args: unknown): string {
  if (typeof args !== 'object' || args === null) return '';
  const values: unknown[] = Object.values(args);
  const [only] = values;
  const text =
    values.length === 1 && typeof only === 'string'
      ? only
      : Object.entries(args).map(pair).join(' ');
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

function pair([name, value]: [string, unknown]): string {
  return `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
}
