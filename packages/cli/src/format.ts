/** A number of bytes for people: `812 B`, `1.2 kB`, `34 MB`. Powers of 1000. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${String(bytes)} B`;
  if (bytes < 999_950) return `${short(bytes / 1000)} kB`;
  return `${short(bytes / 1_000_000)} MB`;
}

/** A time for people, from milliseconds: `12 ms`, `1.2 s`, `2 min 05 s`. */
export function formatDuration(milliseconds: number): string {
  const whole = Math.round(Math.max(0, milliseconds));
  if (whole < 1000) return `${String(whole)} ms`;
  if (whole < 59_950) return `${(whole / 1000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1000);
  return `${String(Math.floor(seconds / 60))} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** A count with its noun: `1 step`, `3 steps`. */
export function formatCount(count: number, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
}

const short = (value: number): string => (value < 99.95 ? value.toFixed(1) : value.toFixed(0));
