import type { VNode } from 'preact';

/** What stands where there is no conversation yet. */
export function EmptyState({ hasSession }: { hasSession: boolean }): VNode {
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
