import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { isOutsideTurns } from '../model/rows.ts';
import type { TurnEnd, TurnView } from '../model/view.ts';
import { counted, durationWords, OUTCOME_WORDS, tokensWords } from '../model/words.ts';
import type { Actions } from './actions.ts';
import { Icon, type IconName } from './icons.tsx';
import { Timeline } from './timeline.tsx';
import { InlineText, VisibleText } from './visible-text.tsx';

interface FooterProps {
  readonly turn: TurnView;
  readonly isLive: boolean;
  readonly actions: Actions;
}

/** How a turn ended, what it cost, and its steps as far as they were watched. */
export function TurnFooter({ turn, isLive, actions }: FooterProps): VNode | null {
  if (turn.end === null && turn.steps.length === 0) return null;
  const canFork = turn.end !== null && !isLive && !isOutsideTurns(turn);
  return (
    <footer class="turn-footer">
      {turn.end !== null && (
        <div class="turn-end">
          <OutcomeBadge end={turn.end} />
          <span class="facts numbers">{factsOf(turn)}</span>
          {canFork && (
            <button
              type="button"
              class="quiet small"
              title="Make a new session with everything up to here"
              onClick={() => {
                actions.fork(turn.id);
              }}
            >
              <Icon name="fork" /> Fork from here
            </button>
          )}
        </div>
      )}
      {turn.end?.error != null && (
        <p class="turn-error" role="note" dir="auto">
          <VisibleText text={turn.end.error} />
        </p>
      )}
      {turn.steps.length > 0 && <TimelineFold turn={turn} isLive={isLive} />}
    </footer>
  );
}

const ICONS: Readonly<Record<TurnEnd['kind'], IconName>> = {
  completed: 'done',
  cancelled: 'cancelled',
  error: 'failed',
  step_limit: 'step_limit',
  interrupted: 'interrupted',
};

function OutcomeBadge({ end }: { end: TurnEnd }): VNode {
  return (
    <span class={`badge badge-${end.kind}`} data-outcome={end.kind}>
      <Icon name={ICONS[end.kind]} />
      {OUTCOME_WORDS[end.kind]}
      {end.reason !== null && ': '}
      {end.reason !== null && <InlineText text={end.reason} />}
    </span>
  );
}

function factsOf({ stepCount, milliseconds, tokens }: TurnView): string {
  const facts = [
    stepCount === null ? '' : counted(stepCount, 'step'),
    milliseconds === null ? '' : durationWords(milliseconds),
    tokens === null ? '' : tokensWords(tokens),
  ];
  return facts.filter((fact) => fact !== '').join(' · ');
}

function TimelineFold({ turn, isLive }: { turn: TurnView; isLive: boolean }): VNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      class="fold timeline-fold"
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>Timeline of {counted(turn.steps.length, 'step')}</summary>
      {isOpen && <Timeline steps={turn.steps} firstStep={turn.firstStep} isLive={isLive} />}
    </details>
  );
}
