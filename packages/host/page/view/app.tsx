import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { ApprovalNotice, focusOldestApproval } from './approval-notice.tsx';
import { Composer } from './composer.tsx';
import { ContextDialog } from './context-dialog.tsx';
import { ConversationView } from './conversation-view.tsx';
import { focusComposer, useDrawer, useKeys, useTitle } from './page-hooks.ts';
import { SessionBar } from './session-bar.tsx';
import { ShortcutsDialog } from './shortcuts-dialog.tsx';
import { Sidebar } from './sidebar.tsx';
import { usePage, type Page } from './use-page.ts';
import { InlineText } from './visible-text.tsx';

type OpenDialog = 'none' | 'context' | 'shortcuts';

/** The page: sessions at the side, the conversation of one of them beside. */
export function App(): VNode {
  const page = usePage();
  const { sessions, selected, title, view } = page;
  const [dialog, setDialog] = useState<OpenDialog>('none');
  const [isDrawerOpen, setDrawerOpen] = useDrawer();
  const show = (opened: OpenDialog) => (): void => {
    setDialog(opened);
  };
  const openDrawer = (isOpen: boolean) => (): void => {
    setDrawerOpen(isOpen);
  };
  useTitle(title, view.running !== null);
  useKeys({
    create: page.create,
    move: page.move,
    help: show('shortcuts'),
    focusComposer,
    focusApproval: focusOldestApproval,
    escape: () => {
      if (isDrawerOpen) setDrawerOpen(false);
      else if (isComposerEmpty()) page.stop();
    },
  });
  return (
    <div class="page">
      <a class="skip" href="#message" onClick={skipToComposer}>
        Skip to the message
      </a>
      <Sidebar
        sessions={sessions.list}
        selected={selected}
        isOpen={isDrawerOpen}
        create={page.create}
        close={openDrawer(false)}
      />
      <main inert={isDrawerOpen}>
        <SessionBar
          view={view}
          title={title}
          isDrawerOpen={isDrawerOpen}
          openDrawer={openDrawer(true)}
          openContext={show('context')}
          openShortcuts={show('shortcuts')}
          retry={page.retry}
        />
        <Session page={page} />
      </main>
      <p class="unseen" aria-live="polite">
        <span key={view.announcement.number}>
          <InlineText text={view.announcement.value} />
        </span>
      </p>
      {dialog === 'context' && selected !== null && (
        <ContextDialog session={selected} close={show('none')} />
      )}
      {dialog === 'shortcuts' && <ShortcutsDialog close={show('none')} />}
    </div>
  );
}

function Session({ page }: { page: Page }): VNode {
  const { selected, view, isOpen, failure, sent, actions } = page;
  const isEmpty = selected === null || (isOpen && view.turns.length === 0);
  return (
    <>
      {isEmpty ? (
        <EmptyState hasSession={selected !== null} />
      ) : (
        <ConversationView
          key={selected}
          view={view}
          actions={actions}
          loadOlder={page.loadOlder}
          sent={sent}
        />
      )}
      <div class="below">
        <ApprovalNotice approvals={view.approvals} />
        {failure !== '' && (
          <p class="failure" role="alert">
            <InlineText text={failure} />
          </p>
        )}
        <Composer
          key={selected ?? 'none'}
          session={selected}
          view={view}
          isEnabled={selected === null || isOpen}
          send={page.send}
          stop={page.stop}
          takeBack={page.takeBack}
        />
      </div>
    </>
  );
}

/** What stands where there is no conversation yet. */
function EmptyState({ hasSession }: { hasSession: boolean }): VNode {
  return (
    <div class="empty">
      <p class="empty-lead">{hasSession ? 'Nothing was said here yet.' : 'No session is open.'}</p>
      <p>
        {hasSession
          ? 'Write below what the agent is to do. You can steer and stop it while it works.'
          : 'Choose one at the side, or write below: that begins a new one.'}
      </p>
    </div>
  );
}

function skipToComposer(event: Event): void {
  event.preventDefault(); // the address names the session
  focusComposer();
}

function isComposerEmpty(): boolean {
  const message = document.getElementById('message');
  return message instanceof HTMLTextAreaElement && message.value === '';
}
