import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

import type { Conversation } from '../model/view.ts';

/** What the reader sees first, and where it stands. */
interface Place {
  readonly turn: Element;
  readonly top: number;
}

/** What was not drawn before gets its real height within so many frames. */
const HELD_FRAMES = 12;
/** What a reader does to go elsewhere; from then on nothing is held. */
const MOVES = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

/** Keeps what the reader sees where it is when older rows are put in front of it. */
export function useKeptPlace(
  scroller: { readonly current: HTMLElement | null },
  { session, previous }: Conversation,
): void {
  const place = useRef<Place | null>(null);
  const last = useRef({ session, previous });
  useEffect(() => {
    const { current } = scroller;
    if (current === null) return undefined;
    const note = (): void => {
      place.current = placeIn(current) ?? place.current;
    };
    // what is drawn for the first time gets its real height, which moves the rest without a scroll
    const growth = new ResizeObserver(note);
    if (current.firstElementChild !== null) growth.observe(current.firstElementChild);
    current.addEventListener('scroll', note, { passive: true });
    return () => {
      growth.disconnect();
      current.removeEventListener('scroll', note);
    };
  }, []);
  useLayoutEffect(() => {
    const before = last.current;
    last.current = { session, previous };
    const isOlder = before.session === session && before.previous !== previous;
    if (!isOlder || scroller.current === null || place.current === null) return undefined;
    return hold(scroller.current, place.current);
  }, [session, previous]);
}

function placeIn(scroller: HTMLElement): Place | null {
  const { top, left, width } = scroller.getBoundingClientRect();
  // below the line that says that older rows are loaded
  const at = document.elementsFromPoint(left + width / 2, top + 60);
  const turn = at.map((element) => element.closest('[data-turn]')).find((found) => found !== null);
  return turn === undefined ? null : { turn, top: turn.getBoundingClientRect().top };
}

/** Holds a turn at its place for some frames, in the stead of the browser; gives what ends that. */
function hold(scroller: HTMLElement, { turn, top }: Place): () => void {
  let frames = HELD_FRAMES;
  let request = 0;
  const stop = (): void => {
    cancelAnimationFrame(request);
    scroller.classList.remove('held');
    for (const move of MOVES) scroller.removeEventListener(move, stop);
  };
  const correct = (): void => {
    scroller.scrollTop += turn.getBoundingClientRect().top - top;
    frames -= 1;
    if (frames > 0) request = requestAnimationFrame(correct);
    else stop();
  };
  scroller.classList.add('held');
  for (const move of MOVES) scroller.addEventListener(move, stop, { passive: true });
  correct();
  return stop;
}
