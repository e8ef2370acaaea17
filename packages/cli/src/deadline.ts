/**
 * Calls `expire` after so many milliseconds, never when they are `null`. What it gives stops
 * the clock: no timer stays behind.
 */
export function startDeadline(milliseconds: number | null, expire: () => void): () => void {
  if (milliseconds === null) return () => undefined;
  const timer = setTimeout(expire, milliseconds);
  return () => {
    clearTimeout(timer);
  };
}
