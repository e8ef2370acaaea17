import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import type { WireSession } from '../../src/wire.ts';
import { agoWords } from '../model/words.ts';
import { Icon } from './icons.tsx';
import { InlineText } from './visible-text.tsx';

interface SidebarProps {
  readonly sessions: readonly WireSession[];
  readonly selected: string | null;
  readonly isOpen: boolean;
  readonly create: () => void;
  readonly close: () => void;
}

/** The sessions, the one written last first. */
export function Sidebar(props: SidebarProps): VNode {
  const { sessions, selected, isOpen, create, close } = props;
  const closeButton = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    closeButton.current?.focus();
    return () => {
      document.getElementById('open-sessions')?.focus();
    };
  }, [isOpen]);
  return (
    <>
      <nav id="sessions" class={isOpen ? 'sidebar is-open' : 'sidebar'} aria-label="Sessions">
        <div class="sidebar-head">
          <h2>Sessions</h2>
          <button type="button" class="quiet" onClick={create}>
            <Icon name="plus" /> New session
          </button>
          <button
            ref={closeButton}
            type="button"
            class="quiet drawer-only"
            aria-label="Close the sessions"
            onClick={close}
          >
            <Icon name="close" />
          </button>
        </div>
        {sessions.length === 0 && <p class="hint">There is none yet.</p>}
        <ul>
          {sessions.map((session) => (
            <li key={session.id}>
              <SessionLink
                session={session}
                isSelected={session.id === selected}
                close={close}
              />
            </li>
          ))}
        </ul>
      </nav>
      {isOpen && <div class="backdrop" onClick={close} />}
    </>
  );
}

interface LinkProps {
  readonly session: WireSession;
  readonly isSelected: boolean;
  readonly close: () => void;
}

function SessionLink({ session, isSelected, close }: LinkProps): VNode {
  return (
    <a
      class="session"
      href={`#${session.id}`}
      data-session={session.id}
      aria-current={isSelected ? 'page' : undefined}
      onClick={close}
    >
      <span class="session-title">
        <InlineText text={titleOf(session)} />
      </span>
      <span class="session-facts">
        <time dateTime={new Date(session.changed_ms).toISOString()}>
          {agoWords(session.changed_ms, Date.now())}
        </time>
        {session.running && (
          <span class="running-mark">
            <Icon name="running" /> running
          </span>
        )}
      </span>
    </a>
  );
}

/** What a session is called. */
export function titleOf(session: WireSession | undefined): string {
  return session === undefined || session.title === '' ? 'New session' : session.title;
}
