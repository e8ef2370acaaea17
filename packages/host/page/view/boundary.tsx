import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';

import { LongText } from './long-text.tsx';

interface BoundaryProps {
  /** What is shown. Another one is tried anew. */
  readonly of: object;
  /** What can be said of it without drawing it; empty when nothing can. */
  readonly plain: () => string;
  readonly children: ComponentChildren;
}

/** Keeps a part of the page that cannot be drawn from taking the rest with it. */
export function Boundary({ of, plain, children }: BoundaryProps): VNode {
  const failed = useRef<object | null>(null);
  const [error, retry] = useErrorBoundary(() => {
    failed.current = of;
  }) as [unknown, () => void];
  useEffect(() => {
    if (failed.current === null || failed.current === of) return;
    failed.current = null;
    retry();
  }, [of]);
  if (error === undefined) return <>{children}</>;
  const text = plain();
  return (
    <div class="broken">
      <p>This part cannot be shown.</p>
      {text !== '' && <LongText text={text} label="What it says" />}
    </div>
  );
}
