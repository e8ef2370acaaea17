import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { durationWords } from '../model/words.ts';

/** The time now, in milliseconds since 1970, read again and again while `isRunning`. */
export function useNow(isRunning: boolean, everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => {
      setNow(Date.now());
    }, everyMs);
    return () => {
      clearInterval(timer);
    };
  }, [isRunning, everyMs]);
  return now;
}

/** How long something has been going on, in whole seconds. */
export function Elapsed({ sinceMs }: { sinceMs: number }): VNode {
  const now = useNow(true, 1000);
  const seconds = Math.max(0, Math.round((now - sinceMs) / 1000));
  const words = seconds < 60 ? `${String(seconds)} s` : durationWords(seconds * 1000);
  return <span class="numbers">{words}</span>;
}
