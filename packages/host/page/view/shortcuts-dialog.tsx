import type { VNode } from 'preact';

import { Dialog } from './dialog.tsx';

const SHORTCUTS: readonly (readonly [string, string])[] = [
  ['n', 'New session'],
  ['/', 'Write a message'],
  ['j', 'Next session'],
  ['k', 'Previous session'],
  ['w', 'Go to the oldest call that waits for approval'],
  ['a', 'Allow that call, with the focus on its card'],
  ['d', 'Deny that call, with the focus on its card'],
  ['Escape', 'Stop the turn, when nothing is written'],
  ['Enter', 'Send, or steer while a turn runs'],
  ['Shift+Enter', 'New line'],
  ['?', 'This list'],
];

/** What the keyboard can do. */
export function ShortcutsDialog({ close }: { close: () => void }): VNode {
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <dl class="shortcuts">
        {SHORTCUTS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="hint">Single letters do nothing while you write.</p>
    </Dialog>
  );
}
