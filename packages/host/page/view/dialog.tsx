import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

import { Icon } from './icons.tsx';

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

/** A dialog over the page. The browser keeps the focus in it and gives it back. */
export function Dialog({ title, close, children }: DialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={close}>
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button
          type="button"
          class="quiet"
          aria-label="Close"
          onClick={() => {
            dialog.current?.close();
          }}
        >
          <Icon name="close" />
        </button>
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
