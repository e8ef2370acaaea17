import { useEffect, useRef, useState } from 'preact/hooks';

import { visibleText } from '../model/visible-text.ts';
import { listenToKeys, type Shortcuts } from './shortcuts.ts';

/** The session that the address names. */
export function useSelected(): string | null {
  const [selected, setSelected] = useState(selectedNow);
  useEffect(() => {
    const onChange = (): void => {
      setSelected(selectedNow());
    };
    addEventListener('hashchange', onChange);
    return () => {
      removeEventListener('hashchange', onChange);
    };
  }, []);
  return selected;
}

function selectedNow(): string | null {
  const id = location.hash.slice(1);
  return /^[a-z0-9-]{1,64}$/.test(id) ? id : null;
}

/** Opens a session to write in it. */
export function goTo(id: string): void {
  const focus = (): void => {
    requestAnimationFrame(focusComposer);
  };
  addEventListener('hashchange', focus, { once: true });
  location.hash = id;
}

/** Puts the cursor where a message is written. */
export function focusComposer(): void {
  document.getElementById('message')?.focus();
}

/** The title of the window: the session, and a mark while a turn runs. */
export function useTitle(title: string, isRunning: boolean): void {
  useEffect(() => {
    const named = title === 'celestea' ? title : `${visibleText(title)} – celestea`;
    document.title = isRunning ? `● ${named}` : named;
  }, [title, isRunning]);
}

/** On a narrow page the sessions lie over it; on a wide one there is nothing to open. */
export function useDrawer(): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const narrow = matchMedia('(max-width: 760px)');
    const close = (): void => {
      setOpen(false);
    };
    narrow.addEventListener('change', close);
    return () => {
      narrow.removeEventListener('change', close);
    };
  }, []);
  return [isOpen, setOpen];
}

/** Listens to the keyboard as long as the page is there. */
export function useKeys(keys: Shortcuts): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => listenToKeys(() => current.current), []);
}
