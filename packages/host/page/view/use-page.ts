import { useEffect, useMemo, useState } from 'preact/hooks';

import { cancelTurn } from '../api.ts';
import { EMPTY_CONVERSATION, type Conversation, type Undelivered } from '../model/view.ts';
import { OwnLines } from '../own-lines.ts';
import { watchPresence } from '../presence.ts';
import { SessionWatch } from '../session-watch.ts';
import { actor, create, sendInput, turnActions } from './act.ts';
import { useSelected } from './page-hooks.ts';
import { useSessions, type Sessions } from './sessions.ts';
import { titleOf } from './sidebar.tsx';

/** All that the page shows, and all that can be done on it. */
export type Page = ReturnType<typeof usePage>;

/** The page's state, for its one component to draw. */
export function usePage() {
  const sessions = useSessions();
  const { refresh } = sessions;
  const [watched, setWatched] = useState<Conversation>(EMPTY_CONVERSATION);
  const [failure, setFailure] = useState('');
  const [sent, setSent] = useState(0);
  const selected = useSelected();
  const watch = useMemo(() => new SessionWatch(setWatched), []);
  const own = useMemo(linesOfThisTab, []);
  const act = useMemo(() => {
    const onDone = (): void => {
      void refresh();
      watch.lookSoon();
    };
    return actor(onDone, setFailure);
  }, [refresh, watch]);
  const actions = useMemo(() => turnActions(selected, act), [selected, act]);
  const isOpen = watched.session === selected;
  const view = shownOf(watched, isOpen, selected === null && sessions.isLocked);
  useEffect(() => {
    watch.open(selected);
    setFailure('');
  }, [watch, selected]);
  useEffect(() => watchPresence(watch.leave, watch.comeBack), [watch]);
  useEffect(() => void refresh(), [watched.running?.turn, refresh]);
  return {
    sessions: withThis(sessions, watched),
    selected,
    title:
      selected === null ? 'celestea' : titleOf(sessions.list.find(({ id }) => id === selected)),
    view,
    /** Whether the selected session is the one that is shown. */
    isOpen,
    /** Why the last request failed; empty when it did not. */
    failure,
    /** How often something was sent. */
    sent,
    actions,
    create: (): void => void create(act),
    send: (input: string): Promise<boolean> => {
      setSent(sent + 1);
      return sendInput(input, selected, view.running?.turn ?? null, act, own);
    },
    stop: (): void => {
      if (selected !== null && view.running !== null) void act(cancelTurn(selected));
    },
    retry: (): void => {
      watch.retry();
      void refresh();
    },
    /** Of the lines that a turn left, those that this tab sent; each is given once. */
    takeBack: ({ turn, lines }: Undelivered): readonly string[] =>
      selected === null ? [] : own.takeBack(selected, turn, lines),
    loadOlder: () => watch.loadOlder(),
    /** Goes so many sessions down the list, or up. */
    move: (by: 1 | -1): void => {
      moveIn(sessions, selected, by);
    },
  };
}

/** A reload of the tab finds them again, unless the browser forbids it to keep anything. */
function linesOfThisTab(): OwnLines {
  try {
    return new OwnLines(sessionStorage);
  } catch {
    return new OwnLines(null);
  }
}

/** Of a session that is on its way nothing is shown but how it comes along. */
function shownOf(watched: Conversation, isOpen: boolean, isLocked: boolean): Conversation {
  if (isOpen && !isLocked) return watched;
  const { connection, announcement } = watched;
  return { ...EMPTY_CONVERSATION, announcement, connection: isLocked ? 'locked' : connection };
}

function moveIn({ list }: Sessions, selected: string | null, by: 1 | -1): void {
  const index = list.findIndex(({ id }) => id === selected);
  const next = list[index < 0 ? 0 : index + by];
  if (next !== undefined) location.hash = next.id;
}

/** Of the session that is shown, it is known at once whether a turn runs. */
function withThis(sessions: Sessions, { session, running }: Conversation): Sessions {
  const list = sessions.list.map((one) =>
    one.id === session ? { ...one, running: running !== null } : one,
  );
  return { ...sessions, list };
}
