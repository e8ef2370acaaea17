import { parsePattern, type EdgeTest, type PatternNode } from './pattern-syntax.ts';

/** What a repetition such as `{1,5000}` may be written out to. */
const MAX_STATES = 10_000;

type State =
  | { readonly kind: 'point'; readonly accepts: (point: number) => boolean; next: number }
  | { readonly kind: 'edge'; readonly holds: EdgeTest; next: number }
  | { readonly kind: 'look'; readonly end: number; readonly negated: boolean; next: number }
  | { readonly kind: 'fork'; readonly next: readonly number[] }
  | { readonly kind: 'end' };

/** The whole pattern, or the inside of one look ahead. */
interface Machine {
  readonly start: number;
  readonly end: number;
}

/** How many steps matching may take; shared by all patterns of one check. */
export class StepBudget {
  readonly #limit: number;
  #left: number;

  constructor(limit: number) {
    this.#limit = limit;
    this.#left = limit;
  }

  reset(): void {
    this.#left = this.#limit;
  }

  /** Throws an `Error` when there is not so much left. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left >= 0) return;
    throw new Error(`the text is too long to match: that takes over ${String(this.#limit)} steps`);
  }
}

/**
 * A regular expression of JavaScript (flag `u`) that matches in time proportional to the length
 * of its text times its own. `RegExp` may take exponential time, and the patterns of tools come
 * from strangers: `(a+)+$` on thirty characters would stop the process.
 *
 * All ways through the pattern are followed at once, so none is ever tried again. The text is
 * read from its end: whether a look ahead holds at a place is then known before it is asked.
 */
export class LinearPattern {
  readonly #source: string;
  readonly #budget: StepBudget;
  readonly #program: Program;

  /** Throws an `Error` for a pattern that is invalid, too large, or cannot be bounded. */
  constructor(source: string, budget: StepBudget) {
    this.#source = source;
    this.#budget = budget;
    this.#program = new Program(parsePattern(source));
  }

  /** Whether the pattern is found anywhere in a text. Throws when the budget is spent. */
  test(text: string): boolean {
    this.#budget.spend(text.length);
    const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
    return new Run(this.#program, points, this.#budget).isFound();
  }

  toString(): string {
    return `/${this.#source}/u`;
  }
}

/** The states of a pattern, linked from its end to its start. */
class Program {
  readonly states: State[] = [];
  /** Inner look aheads first; the pattern itself is the last. */
  readonly machines: Machine[] = [];
  #emitted = 0;

  constructor(pattern: PatternNode) {
    this.#machine(pattern);
  }

  #machine(body: PatternNode): Machine {
    const end = this.#add({ kind: 'end' });
    const machine = { start: this.#emit(body, end), end };
    this.machines.push(machine);
    return machine;
  }

  /** Gives the state that reads `node`, backwards, and then goes on to `next`. */
  #emit(node: PatternNode, next: number): number {
    this.#emitted += 1; // counts what adds no state too: `(?:){4000000000}`
    if (this.#emitted > MAX_STATES) throw new Error('the pattern is too large');
    switch (node.kind) {
      case 'point':
        return this.#add({ kind: 'point', accepts: node.accepts, next });
      case 'edge':
        return this.#add({ kind: 'edge', holds: node.holds, next });
      case 'look': {
        const { end } = this.#machine(node.body);
        return this.#add({ kind: 'look', end, negated: node.negated, next });
      }
      case 'sequence':
        return node.items.reduce((after, item) => this.#emit(item, after), next);
      case 'choice':
        return this.#fork(node.options.map((option) => this.#emit(option, next)));
      case 'repeat':
        return this.#repeat(node.item, node.min, node.max, next);
      default:
        return node satisfies never;
    }
  }

  #repeat(item: PatternNode, min: number, max: number, next: number): number {
    let after = next;
    if (max === Infinity) {
      const ways = [next];
      after = this.#fork(ways);
      ways.push(this.#emit(item, after));
    } else {
      for (let left = max - min; left > 0; left -= 1) {
        after = this.#fork([next, this.#emit(item, after)]);
      }
    }
    for (let left = min; left > 0; left -= 1) after = this.#emit(item, after);
    return after;
  }

  #fork(next: readonly number[]): number {
    return this.#add({ kind: 'fork', next });
  }

  #add(state: State): number {
    return this.states.push(state) - 1;
  }
}

/** One search through one text. */
class Run {
  readonly #program: Program;
  readonly #points: readonly number[];
  readonly #budget: StepBudget;
  /** The place at which each state was last reached. */
  readonly #reached: Int32Array;

  constructor(program: Program, points: readonly number[], budget: StepBudget) {
    this.#program = program;
    this.#points = points;
    this.#budget = budget;
    budget.spend(program.states.length);
    this.#reached = new Int32Array(program.states.length).fill(-1);
  }

  isFound(): boolean {
    const { machines } = this.#program;
    const whole = machines.at(-1)?.end ?? 0;
    let waiting: number[][] = machines.map(() => []);
    for (let index = this.#points.length; index >= 0; index -= 1) {
      const point = this.#points[index]; // none at the end, and nothing waits there
      waiting = machines.map(({ start }, which) => {
        const arrived = this.#accepting(waiting[which] ?? [], point);
        return this.#reach([start, ...arrived], index);
      });
      if (this.#reached[whole] === index) return true;
    }
    return false;
  }

  #accepting(waiting: readonly number[], point: number | undefined): number[] {
    if (point === undefined) return [];
    this.#budget.spend(waiting.length);
    const arrived: number[] = [];
    for (const at of waiting) {
      const state = this.#program.states[at];
      if (state?.kind === 'point' && state.accepts(point)) arrived.push(state.next);
    }
    return arrived;
  }

  /** Everything that can be reached without reading on; gives the states that wait to read. */
  #reach(from: number[], index: number): number[] {
    const waiting: number[] = [];
    for (let at = from.pop(); at !== undefined; at = from.pop()) {
      this.#budget.spend(1);
      const state = this.#program.states[at];
      if (state === undefined || this.#reached[at] === index) continue;
      this.#reached[at] = index;
      switch (state.kind) {
        case 'point':
          waiting.push(at);
          break;
        case 'edge':
          if (state.holds(this.#points, index)) from.push(state.next);
          break;
        case 'look':
          if ((this.#reached[state.end] === index) !== state.negated) from.push(state.next);
          break;
        case 'fork':
          for (const next of state.next) from.push(next);
          break;
        case 'end':
          break;
        default:
          state satisfies never;
      }
    }
    return waiting;
  }
}
