/** What single keys do when nobody writes. */
export interface Shortcuts {
  readonly create: () => void;
  readonly focusComposer: () => void;
  /** Goes so many sessions down the list, or up. */
  readonly move: (by: 1 | -1) => void;
  readonly focusApproval: () => void;
  readonly help: () => void;
  /** Stops the turn, if nothing is written. */
  readonly escape: () => void;
}

/** Listens to the keyboard; gives back what ends that. */
export function listenToKeys(now: () => Shortcuts): () => void {
  const onKey = (event: KeyboardEvent): void => {
    const { key, ctrlKey, metaKey, altKey, defaultPrevented, isComposing, target } = event;
    if (ctrlKey || metaKey || altKey || defaultPrevented || isComposing) return;
    if (document.querySelector('dialog[open]') !== null) return;
    if (key === 'Escape') {
      now().escape();
      return;
    }
    if (isWriting(target)) return;
    if (act(key, now(), target)) event.preventDefault();
  };
  document.addEventListener('keydown', onKey);
  return () => {
    document.removeEventListener('keydown', onKey);
  };
}

function act(key: string, targets: Shortcuts, target: EventTarget | null): boolean {
  switch (key) {
    case 'n':
      targets.create();
      return true;
    case '/':
      targets.focusComposer();
      return true;
    case 'j':
      targets.move(1);
      return true;
    case 'k':
      targets.move(-1);
      return true;
    case 'w':
      targets.focusApproval();
      return true;
    case '?':
      targets.help();
      return true;
    case 'a':
      return press(target, 'button.allow:not([data-unseen])') || focusUnseen(target);
    case 'd':
      return press(target, 'button.deny');
    default:
      return false;
  }
}

/** Only on the card that has the focus: a key pressed anywhere else answers nothing. */
function press(target: EventTarget | null, selector: string): boolean {
  if (!(target instanceof Element)) return false;
  const button = target.closest('[data-call]')?.querySelector<HTMLButtonElement>(selector);
  button?.click();
  return button !== null && button !== undefined;
}

/** Arguments that are cut are allowed by no key: whoever pressed it is led to what says so. */
function focusUnseen(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  const notice = target.closest('[data-call]')?.querySelector<HTMLElement>('.approval-unseen');
  notice?.focus();
  return notice !== null && notice !== undefined;
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  );
}
