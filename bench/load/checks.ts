/** What was checked, and what was found wrong. */
export interface Check {
  readonly name: string;
  /** Empty when all is in order. */
  readonly faults: readonly string[];
}

/** Collects checks and tells of each. */
export class Checks {
  readonly all: Check[] = [];
  readonly #say: (line: string) => void;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** Whether all that was checked is in order. */
  get isPassed(): boolean {
    return this.all.every(({ faults }) => faults.length === 0);
  }

  /** Tells of how far it is. */
  note(line: string): void {
    this.#say(line);
  }

  /** `name` says what is true when there are no faults. */
  add(name: string, faults: readonly string[]): void {
    this.all.push({ name, faults });
    this.#say(`${faults.length === 0 ? 'ok' : 'FAILED'}: ${name}`);
    for (const fault of faults.slice(0, 5)) this.#say(`  ${fault}`);
    if (faults.length > 5) this.#say(`  and ${String(faults.length - 5)} more`);
  }

  /** That two are the same. */
  same(name: string, came: unknown, expected: unknown): void {
    const fault = `expected ${String(expected)}, got ${String(came)}`;
    this.add(name, came === expected ? [] : [fault]);
  }

  /** That one is at most the other. */
  atMost(name: string, came: number, most: number): void {
    this.add(name, came <= most ? [] : [`expected at most ${String(most)}, got ${String(came)}`]);
  }
}
