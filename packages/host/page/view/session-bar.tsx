import type { VNode } from 'preact';

import type { Connection, Conversation } from '../model/view.ts';
import { countWords, counted } from '../model/words.ts';
import { Elapsed } from './elapsed.tsx';
import { Icon } from './icons.tsx';
import { InlineText } from './visible-text.tsx';

interface BarProps {
  readonly view: Conversation;
  readonly title: string;
  readonly isDrawerOpen: boolean;
  readonly openDrawer: () => void;
  readonly openContext: () => void;
  readonly openShortcuts: () => void;
  readonly retry: () => void;
}

/** Above the conversation: which session it is, what it is doing, what it takes. */
export function SessionBar(props: BarProps): VNode {
  const { view, title, isDrawerOpen, openDrawer, openContext, openShortcuts, retry } = props;
  return (
    <header class="bar">
      <div class="bar-title">
        <button
          id="open-sessions"
          type="button"
          class="quiet drawer-only"
          aria-label="Show the sessions"
          aria-expanded={isDrawerOpen}
          aria-controls="sessions"
          onClick={openDrawer}
        >
          <Icon name="menu" />
        </button>
        <h1>
          <InlineText text={title} />
        </h1>
        <Activity view={view} />
        <button type="button" class="quiet" aria-label="Keyboard shortcuts" onClick={openShortcuts}>
          ?
        </button>
      </div>
      <div class="bar-facts">
        <ConnectionState connection={view.connection} retry={retry} />
        {view.session !== null && <Context view={view} />}
        {view.session !== null && (
          <button type="button" class="quiet small" onClick={openContext}>
            Next request
          </button>
        )}
      </div>
    </header>
  );
}

function Activity({ view: { running } }: { view: Conversation }): VNode | null {
  if (running === null) return null;
  const { step, startedMs, deltasPerSecond } = running;
  return (
    <p class="activity numbers">
      <Icon name="running" />
      <span>
        Step {Math.max(1, step)}, <Elapsed sinceMs={startedMs} />
        {deltasPerSecond !== null && deltasPerSecond > 0 && (
          <span class="wide-only">, {deltasPerSecond} pieces a second</span>
        )}
      </span>
    </p>
  );
}

const CONNECTION_WORDS: Readonly<Record<Connection, string>> = {
  closed: '',
  connecting: 'Connecting…',
  open: 'Connected',
  polling: 'Watching by polling: other tabs hold the streams.',
  lost: 'Connection lost, trying again…',
  locked: 'Not allowed in: open the address the host printed, the one with ?token= in it.',
  missing: 'There is no such session.',
};

function ConnectionState({
  connection,
  retry,
}: {
  connection: Connection;
  retry: () => void;
}): VNode {
  return (
    <div class="connection-state">
      <p role="status" class={`connection connection-${connection}`}>
        {CONNECTION_WORDS[connection]}
      </p>
      {(connection === 'lost' || connection === 'locked') && (
        <button type="button" class="quiet small" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

function Context({ view: { context, totalTokens } }: { view: Conversation }): VNode {
  const used = totalTokens?.total_tokens ?? 0;
  return (
    <>
      {context !== null && (
        <p class="context numbers">
          {context.window > 0 && (
            <meter
              min={0}
              max={context.window}
              high={context.window * 0.8}
              value={context.used}
              aria-label="Context used"
            />
          )}
          <span>
            Context {countWords(context.used)}
            {context.window > 0 ? ` of ${counted(context.window, 'token')}` : ' tokens'}
          </span>
        </p>
      )}
      {used > 0 && <p class="usage numbers">Used so far: {counted(used, 'token')}</p>}
    </>
  );
}
