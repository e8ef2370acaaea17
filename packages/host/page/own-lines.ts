/** What of the browser's storage is needed. */
export interface LineStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** Steering lines that were sent from here to the last turn that was steered. */
interface Sent {
  readonly turn: string;
  readonly lines: readonly string[];
}

/** The steering lines that this tab sent: it alone takes them back. */
export interface OwnLines {
  /** A line is sent to a turn. */
  note(session: string, turn: string, line: string): void;
  /** The host did not take it. */
  forget(session: string, line: string): void;
  /** Which of the lines that a turn did not take were sent from here; each is given once. */
  takeBack(session: string, turn: string, undelivered: readonly string[]): string[];
}

/** Keeps lines where a tab finds them after a reload; without a storage, as long as it lives. */
export function ownLines(storage: LineStorage | null): OwnLines {
  const kept = new Map<string, Sent>();
  const read = (session: string): Sent | null => kept.get(session) ?? readSent(storage, session);
  const keep = (session: string, sent: Sent): void => {
    kept.set(session, sent);
    try {
      storage?.setItem(keyOf(session), JSON.stringify(sent));
    } catch {
      // it is full: the lines are known until the next reload
    }
  };
  return {
    note: (session, turn, line) => {
      const before = read(session);
      const lines = before?.turn === turn ? before.lines : [];
      keep(session, { turn, lines: [...lines, line] });
    },
    forget: (session, line) => {
      const before = read(session);
      const index = before?.lines.lastIndexOf(line) ?? -1;
      if (before === null || index < 0) return;
      keep(session, { ...before, lines: before.lines.toSpliced(index, 1) });
    },
    takeBack: (session, turn, undelivered) => {
      const before = read(session);
      if (before?.turn !== turn) return [];
      const own = [...before.lines];
      keep(session, { turn, lines: [] });
      return undelivered.filter((line) => {
        const index = own.indexOf(line);
        if (index >= 0) own.splice(index, 1);
        return index >= 0;
      });
    },
  };
}

const keyOf = (session: string): string => `celestea-steered-${session}`;

function readSent(storage: LineStorage | null, session: string): Sent | null {
  try {
    const text = storage?.getItem(keyOf(session)) ?? null;
    const sent: unknown = text === null ? null : JSON.parse(text);
    return isSent(sent) ? sent : null;
  } catch {
    return null;
  }
}

function isSent(value: unknown): value is Sent {
  if (typeof value !== 'object' || value === null) return false;
  const { turn, lines } = value as Partial<Record<keyof Sent, unknown>>;
  return (
    typeof turn === 'string' &&
    Array.isArray(lines) &&
    lines.every((line) => typeof line === 'string')
  );
}
