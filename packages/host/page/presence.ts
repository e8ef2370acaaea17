/** How long a tab may be hidden until it counts as left, in milliseconds. */
const AWAY_MS = 30_000;

/**
 * Tells when nobody looks at the page for a while, or it is put away, and when it is looked at
 * again; gives back what ends that.
 */
export function watchPresence(onAway: () => void, onBack: () => void): () => void {
  let timer: number | undefined;
  let isAway = false;
  const change = (away: boolean): void => {
    clearTimeout(timer);
    if (away === isAway) return;
    isAway = away;
    if (away) onAway();
    else onBack();
  };
  const onVisibility = (): void => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible') change(false);
    else timer = setTimeout(change, AWAY_MS, true);
  };
  const onHide = (): void => {
    change(true);
  };
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('pagehide', onHide);
  addEventListener('pageshow', onVisibility);
  onVisibility();
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('pagehide', onHide);
    removeEventListener('pageshow', onVisibility);
  };
}
