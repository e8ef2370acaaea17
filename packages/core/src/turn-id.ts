import type { SessionEvent } from './session-event.ts';

/** `turn-<n>`. */
export function formatTurnId(n: number): string {
  return `turn-${String(n)}`;
}

/** The number of a `turn-<n>`; `null` for any other form, leading zeros and unsafe integers included. */
export function parseTurnNumber(id: string): number | null {
  const digits = /^turn-(0|[1-9]\d*)$/.exec(id)?.[1];
  if (digits === undefined) return null;
  const n = Number(digits);
  return Number.isSafeInteger(n) ? n : null;
}

/** One more than the largest turn number of the rows; 0 when there is none (C4.2). */
export function nextTurnNumber(events: Iterable<SessionEvent>): number {
  let next = 0;
  for (const event of events) {
    if (event.type !== 'turn_start' && event.type !== 'turn_end') continue;
    const n = parseTurnNumber(event.id);
    if (n !== null && n >= next) next = n + 1;
  }
  return next;
}
