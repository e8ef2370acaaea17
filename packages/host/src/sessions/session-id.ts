const ID = /^[a-z0-9-]{1,64}$/;

/** Names that some systems keep for devices, whatever ending a file has. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * Whether a value can be the id of a session: 1 to 64 of `a-z`, `0-9` and `-`, and no name that
 * a system keeps for itself. Such an id is a file name on every system and leaves no folder.
 */
export function isSessionId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value) && !RESERVED.test(value);
}

/** A new id: the time in UTC, for people and for sorting, and 48 random bits. */
export function newSessionId(nowMs: number): string {
  const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '').replace('T', '-');
  return `${time}-${globalThis.crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`;
}

const TIMED = /^(\d{4}-\d\d-\d\d)-(\d\d)(\d\d)(\d\d)-/;

/** When an id was made, in milliseconds; `null` when it does not say. */
export function sessionIdTime(id: string): number | null {
  const [, day, hours, minutes, seconds] = TIMED.exec(id) ?? [];
  if (day === undefined) return null;
  const time = Date.parse(`${day}T${String(hours)}:${String(minutes)}:${String(seconds)}Z`);
  return Number.isNaN(time) ? null : time;
}
