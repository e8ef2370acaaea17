import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

interface FoldProps {
  readonly label: string;
  readonly isOpen: boolean;
  /** Called when it is open: what is folded away costs nothing. */
  readonly children: () => VNode | readonly VNode[];
}

/** Something that can be folded away. */
export function Fold({ label, isOpen, children }: FoldProps): VNode {
  const [open, setOpen] = useState(isOpen);
  useEffect(() => {
    setOpen(isOpen);
  }, [isOpen]);
  return (
    <details
      class="fold"
      open={open}
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>{label}</summary>
      {open && children()}
    </details>
  );
}
