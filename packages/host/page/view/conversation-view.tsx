import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { Conversation } from '../model/view.ts';
import type { Actions } from './actions.ts';
import { useKeptPlace } from './kept-place.ts';
import { TurnSection } from './turn-section.tsx';

interface ConversationProps {
  readonly view: Conversation;
  readonly actions: Actions;
  readonly loadOlder: () => Promise<void>;
  /** Changes when the reader said something, who then wants to see what comes of it. */
  readonly sent: number;
}

/** So near to the bottom counts as there, in pixels. */
const NEAR = 40;
/** Older rows are asked for when so little is left above, in pixels. */
const AHEAD = 600;

/** All that was said, the newest at the bottom, where it stays as long as the reader is there. */
export function ConversationView({ view, actions, loadOlder, sent }: ConversationProps): VNode {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [isAway, setAway] = useState(false);
  const stay = useStickToBottom(scroller, content, setAway);
  useKeptPlace(scroller, view);
  const askOlder = (): void => {
    const { scrollTop } = scroller.current ?? { scrollTop: 0 };
    if (scrollTop < AHEAD && view.previous !== null) void loadOlder();
  };
  useEffect(askOlder, [view.turns.length, view.previous]);
  useEffect(stay, [view.session, sent]);
  return (
    <div class="conversation">
      <div
        class="scroller"
        ref={scroller}
        role="region"
        aria-label="Conversation"
        tabIndex={0}
        onScroll={askOlder}
      >
        <div class="content" ref={content}>
          {view.previous !== null && <p class="hint">Loading what was said before…</p>}
          {view.turns.map((turn) => (
            <TurnSection
              key={turn.id}
              turn={turn}
              isLive={view.running?.turn === turn.id}
              approvals={view.approvals}
              actions={actions}
            />
          ))}
        </div>
      </div>
      {isAway && (
        <button type="button" class="to-bottom" onClick={stay}>
          To the newest
        </button>
      )}
    </div>
  );
}

interface Scroller {
  readonly current: HTMLDivElement | null;
}

/** Stays at the bottom while the reader is there; gives what goes there. */
function useStickToBottom(
  scroller: Scroller,
  content: Scroller,
  setAway: (isAway: boolean) => void,
): () => void {
  const isStuck = useRef(true);
  const goDown = (): void => {
    const { current } = scroller;
    if (current !== null) current.scrollTop = current.scrollHeight;
  };
  useEffect(() => {
    const { current } = scroller;
    if (current === null || content.current === null) return undefined;
    let lastTop = current.scrollTop;
    const onScroll = (): void => {
      const { scrollTop, scrollHeight, clientHeight } = current;
      const isNear = scrollHeight - clientHeight - scrollTop < NEAR;
      // growing by itself moves nothing up: only the reader does
      if (isNear) isStuck.current = true;
      else if (scrollTop < lastTop) isStuck.current = false;
      lastTop = scrollTop;
      setAway(!isStuck.current);
    };
    const growth = new ResizeObserver(() => {
      if (isStuck.current) goDown();
    });
    current.addEventListener('scroll', onScroll, { passive: true });
    growth.observe(content.current);
    growth.observe(current);
    return () => {
      growth.disconnect();
      current.removeEventListener('scroll', onScroll);
    };
  }, []);
  return () => {
    isStuck.current = true;
    goDown();
  };
}
