import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';

import type { WireApproval } from '../../src/wire.ts';
import type { Item, ReasoningItem, ReplyItem, TurnView } from '../model/view.ts';
import { plainText } from '../model/result-text.ts';
import { beginningOf, visibleText } from '../model/visible-text.ts';
import type { Actions } from './actions.ts';
import { Boundary } from './boundary.tsx';
import { CallCard } from './call-card.tsx';
import { MarkdownView } from './markdown-view.tsx';
import { TurnFooter } from './turn-footer.tsx';
import { VisibleText } from './visible-text.tsx';

interface TurnProps {
  readonly turn: TurnView;
  readonly isLive: boolean;
  readonly approvals: readonly WireApproval[];
  readonly actions: Actions;
}

/** A turn from what the user said to how it ended. Drawn anew only when something of it changed. */
export function TurnSection({ turn, isLive, approvals, actions }: TurnProps): VNode {
  const asked = isLive ? approvals : NO_APPROVALS;
  return useMemo(
    () => (
      <section class="turn" data-turn={turn.id} aria-labelledby={`turn-heading-${turn.id}`}>
        <h2 id={`turn-heading-${turn.id}`} class="unseen">
          {headingOf(turn)}
        </h2>
        {entriesOf(turn).map(({ key, item, isGrowing }) => (
          <Boundary key={key} of={item} plain={() => plainText(item)}>
            <ItemView
              item={item}
              isOpening={key === 'user-0'}
              isGrowing={isGrowing}
              isLive={isLive}
              approvals={asked}
              actions={actions}
            />
          </Boundary>
        ))}
        {isLive && turn.draft === null && <Waiting turn={turn} />}
        <Boundary of={turn} plain={() => turn.end?.error ?? ''}>
          <TurnFooter turn={turn} isLive={isLive} actions={actions} />
        </Boundary>
      </section>
    ),
    [turn, isLive, asked, actions],
  );
}

const NO_APPROVALS: readonly WireApproval[] = [];

/** The first words of the user find a turn among others. */
function headingOf({ id, items }: TurnView): string {
  const counted = /^turn-(\d+)$/.exec(id);
  const name = counted === null ? 'Turn' : `Turn ${String(Number(counted[1]) + 1)}`;
  const first = items.find((item) => item.kind === 'user');
  const words = first === undefined ? '' : `: ${firstWords(first.text)}`;
  return `${name}${words}`;
}

function firstWords(text: string): string {
  return visibleText(beginningOf(text.slice(0, 1000).replaceAll(/\s+/g, ' '), 80));
}

/** Said while nothing of the next reply has come, so that it is plain that something goes on. */
function Waiting({ turn }: { turn: TurnView }): VNode | null {
  const isCalling = turn.items.some((item) => item.kind === 'call' && item.result === null);
  return isCalling ? null : <p class="working">Waiting for the model…</p>;
}

interface Entry {
  /** By kind and place, so that a reply keeps its elements when it is complete. */
  readonly key: string;
  readonly item: Item;
  readonly isGrowing: boolean;
}

function entriesOf({ items, draft }: TurnView): Entry[] {
  const counts = new Map<Item['kind'], number>();
  const entry = (item: Item, isGrowing: boolean): Entry => {
    const place = counts.get(item.kind) ?? 0;
    counts.set(item.kind, place + 1);
    return { key: `${item.kind}-${String(place)}`, item, isGrowing };
  };
  const entries = items.map((item) => entry(item, false));
  if (draft === null) return entries;
  const reasoning: ReasoningItem = { kind: 'reasoning', key: 'draft', text: draft.thinking };
  const reply: ReplyItem = { kind: 'reply', key: 'draft', text: draft.text, isPartial: false };
  if (draft.thinking !== '') entries.push(entry(reasoning, draft.text === ''));
  if (draft.text !== '') entries.push(entry(reply, true));
  return entries;
}

interface ItemProps {
  readonly item: Item;
  readonly isOpening: boolean;
  readonly isGrowing: boolean;
  readonly isLive: boolean;
  readonly approvals: readonly WireApproval[];
  readonly actions: Actions;
}

function ItemView({ item, isOpening, isGrowing, isLive, approvals, actions }: ItemProps): VNode {
  switch (item.kind) {
    case 'user':
      return <UserText text={item.text} pictures={item.pictures} isOpening={isOpening} />;
    case 'reasoning':
      return (
        <details class="reasoning">
          <summary>{isGrowing ? 'Thinking…' : 'Reasoning'}</summary>
          <div class="reasoning-text" dir="auto">
            <VisibleText text={item.text} />
          </div>
        </details>
      );
    case 'reply':
      return (
        <div class={item.isPartial ? 'reply partial' : 'reply'}>
          <MarkdownView text={item.text} isGrowing={isGrowing} />
          {item.isPartial && (
            <p class="hint">This reply broke off. It is not kept, and the model will not see it.</p>
          )}
        </div>
      );
    case 'call': {
      const approval = approvals.find(({ call_id }) => call_id === item.id) ?? null;
      return <CallCard call={item} approval={approval} isLive={isLive} actions={actions} />;
    }
    case 'notice':
      return (
        <p class="notice" dir="auto">
          <VisibleText text={item.text} />
        </p>
      );
    default:
      return item satisfies never;
  }
}

interface UserProps {
  readonly text: string;
  readonly pictures: number;
  readonly isOpening: boolean;
}

function UserText({ text, pictures, isOpening }: UserProps): VNode {
  return (
    <div class={isOpening ? 'user' : 'user steering'}>
      <p class="who">{isOpening ? 'You' : 'You, while it ran'}</p>
      <div class="user-text" dir="auto">
        <VisibleText text={text} />
      </div>
      {pictures > 0 && (
        <p class="hint">With {pictures === 1 ? 'a picture' : `${String(pictures)} pictures`}.</p>
      )}
    </div>
  );
}
