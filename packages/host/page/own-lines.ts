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

const NOTHING_SENT: Sent = { turn: '', lines: [] };

/**
 * The steering lines that this tab sent: it alone takes them back. They are kept where the tab finds
 * them after a reload; without a storage, as long as it lives.
 */
export class OwnLines {
  readonly #storage: LineStorage | null;
  readonly #kept = new Map<string, Sent>();

  constructor(storage: LineStorage | null) {
    this.#storage = storage;
  }

  /** A line is sent to a turn. */
  note(session: string, turn: string, line: string): void {
    const before = this.#read(session);
    const lines = before.turn === turn ? before.lines : [];
    this.#keep(session, { turn, lines: [...lines, line] });
  }

  /** The host did not take it. */
  forget(session: string, line: string): void {
    const { turn, lines } = this.#read(session);
    this.#keep(session, { turn, lines: without(lines, line) });
  }

  /** Which of the lines that a turn did not take were sent from here; each is given once. */
  takeBack(session: string, turn: string, undelivered: readonly string[]): string[] {
    const before = this.#read(session);
    if (before.turn !== turn) return [];
    this.#keep(session, { turn, lines: [] });
    let own = before.lines;
    return undelivered.filter((line) => {
      const rest = without(own, line);
      const isOwn = rest.length < own.length;
      own = rest;
      return isOwn;
    });
  }

  #read(session: string): Sent {
    const kept = this.#kept.get(session);
    if (kept !== undefined) return kept;
    try {
      const text = this.#storage?.getItem(keyOf(session)) ?? null;
      return text === null ? NOTHING_SENT : (JSON.parse(text) as Sent); // it was written below
    } catch {
      return NOTHING_SENT;
    }
  }

  #keep(session: string, sent: Sent): void {
    this.#kept.set(session, sent);
    try {
      this.#storage?.setItem(keyOf(session), JSON.stringify(sent));
    } catch {
      // it is full: the lines are known until the next reload
    }
  }
}

const keyOf = (session: string): string => `celestea-steered-${session}`;

/** The list without the last line of that text. */
function without(lines: readonly string[], line: string): readonly string[] {
  const index = lines.lastIndexOf(line);
  return index < 0 ? lines : lines.toSpliced(index, 1);
}
