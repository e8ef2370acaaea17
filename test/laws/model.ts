/**
 * What a turn has to come to, from its world alone: the rows as short words, its end last.
 * Written from the rules, by tables, and knows nothing of how the loop does it.
 */
import { readReply, type Reading } from './model-stream.ts';
import { replyAt } from './run-world-seams.ts';
import { OUTPUTS } from './worlds-values.ts';
import { numberOf, type CallPlan, type Hook, type ReplyPlan, type World } from './worlds.ts';

const MAX_EXTENSIONS = 8;

/** What the rules leave open for a world. */
interface Choice {
  readonly limit: number;
  /** Completed steps, by their number, that a message of an open moment keeps going. */
  readonly extended: (completed: number) => boolean;
  readonly generateCounts: boolean;
  readonly cutOff: 'some' | 'all';
}

type End =
  | 'completed'
  | 'cancelled'
  | 'step_limit'
  | 'interrupted'
  | 'error generate'
  | 'error stream';

/** Rounding of a step limit is open; none at all is no limit (L2.3). */
function limitsOf(world: World): number[] {
  const given = numberOf(world.config.maxSteps);
  const rounded = [Math.floor(given), Math.ceil(given)];
  return [...new Set(rounded.map((limit) => (limit > 0 ? limit : Infinity)))];
}

const parallelOf = (world: World): number =>
  Math.max(1, Math.floor(numberOf(world.config.parallel)) || 1);

/** The budget of a request (L5.3); `null` when fitting is off. */
export function budgetOf({ config }: World): number | null {
  if (config.window <= 0) return null;
  const threshold = numberOf(config.threshold);
  const share = Number.isNaN(threshold) ? 1 : Math.min(1, Math.max(0, threshold));
  return Math.max(1, Math.floor(config.window * share));
}

/** What a call comes to when nobody cancels; `stuck` waits for ever (L4.6, X8, X13). */
function fateOf(call: CallPlan, cutOff: boolean, toolMs: number): 'ok' | 'error' | 'stuck' {
  const { does, pace, output } = call.tool;
  if (cutOff || call.name === '' || does === 'throw') return 'error';
  const ms = pace === 'never' ? Infinity : typeof pace === 'number' ? pace : 0;
  if (toolMs > 0 && ms > toolMs) return 'error';
  if (ms === Infinity) return 'stuck';
  if (does === 'value') return 'ok';
  return does === 'reject' ? 'error' : OUTPUTS[output][0];
}

/** The results of a step's calls, in batches; the last word says whether they all came. */
function resultsOf(world: World, calls: readonly CallPlan[], cutOff: boolean): [string[], boolean] {
  const size = parallelOf(world);
  let stuck = false;
  const words: string[] = [];
  for (let at = 0; at < calls.length; at += size) {
    const batch = calls.slice(at, at + size);
    const fates = batch.map((call) => fateOf(call, cutOff, world.timeouts.tool));
    const blocked = stuck;
    for (const [index, call] of batch.entries()) {
      const fate = fates[index] === 'stuck' ? 'abandoned' : (fates[index] ?? '');
      words.push(`result:${call.name}:${blocked ? 'cancelled' : fate}`);
    }
    if (!blocked) stuck = fates.includes('stuck');
  }
  return [words, !stuck];
}

/** What the ways of `generate` come to when they give no stream (L2.6). */
const NO_STREAM: Partial<Record<ReplyPlan['generate'], 'error generate' | 'hangs'>> = {
  throw: 'error generate',
  reject: 'error generate',
  nothing: 'error generate',
  number: 'error generate',
  odd: 'error generate',
  hang: 'hangs',
};

const HOOK_ENDS: Record<Hook['does'], End | null> = {
  nothing: null,
  late: null,
  throw: 'error generate',
  reject: 'error generate',
  hang: 'cancelled',
};

class Play {
  readonly words: string[] = ['start'];
  readonly #world: World;
  readonly #choice: Choice;
  #waiting: string[] = [];
  #extensions = 0;
  #completed = 0;

  constructor(world: World, choice: Choice) {
    this.#world = world;
    this.#choice = choice;
  }

  run(): string[] {
    const { input } = this.#world;
    if (input !== null) this.words.push(`user:${input.toWellFormed()}`);
    let end: End | null = null;
    for (let step = 0; end === null; step += 1) {
      if (step >= this.#choice.limit) end = 'step_limit';
      else end = this.#step(step);
    }
    this.words.push(`end:${end}`);
    return this.words;
  }

  #step(step: number): End | null {
    this.#drain();
    const { policy, prepare, timeouts } = this.#world;
    if (policy === null && budgetOf(this.#world) === 1) return 'error generate';
    for (const hook of [policy, prepare]) {
      const end = hook?.step === step ? HOOK_ENDS[hook.does] : null;
      if (end !== null) return end;
    }
    const plan = replyAt(this.#world, step);
    const none = NO_STREAM[plan.generate];
    if (none === 'hangs') return timeouts.stream > 0 ? 'error stream' : 'cancelled';
    if (none !== undefined) return none;
    const waited = this.#choice.generateCounts ? plan.wait : 0;
    return this.#verdict(readReply(plan, timeouts.stream, waited), step);
  }

  /** L2.8, L4.1 to L4.4. */
  #verdict(reading: Reading, step: number): End | null {
    this.words.push(...reading.thoughts);
    this.#post(reading.posts);
    const { end, finished, calls } = reading;
    if (end === 'hangs') return 'cancelled';
    const failure: End | null = {
      end: null,
      interrupted: 'interrupted' as const,
      generate: 'error generate' as const,
      stream: 'error stream' as const,
    }[end ?? 'end'];
    if (!finished) return failure ?? 'interrupted';
    const text = reading.texts.join('').toWellFormed();
    if (calls.length > 0) return failure ?? this.#work(reading, text);
    this.words.push(`reply:${text}`);
    return failure ?? this.#complete(step);
  }

  #work({ calls, cutOff }: Reading, text: string): End | null {
    if (text !== '') this.words.push(`words:${text}`);
    this.words.push(...calls.map(({ name }) => `call:${name}`));
    const cut = this.#choice.cutOff === 'some' ? cutOff.includes(true) : !cutOff.includes(false);
    const [results, whole] = resultsOf(this.#world, calls, cut);
    this.words.push(...results);
    const ran = calls.filter(
      ({ name, tool }, at) =>
        name !== '' && tool.does !== 'throw' && results[at] !== `result:${name}:cancelled`,
    );
    if (!cut) this.#post(ran.map(({ tool }) => tool.post).filter((text) => text !== ''));
    return whole ? null : 'cancelled';
  }

  /** X6: messages that wait keep a completed turn going, within its budget. */
  #complete(step: number): End | null {
    const completed = this.#completed;
    this.#completed += 1;
    const comes = this.#waiting.length > 0 || this.#choice.extended(completed);
    const waits = comes && keepsGoing(this.#world);
    if (!waits || this.#extensions >= MAX_EXTENSIONS) return 'completed';
    if (step + 1 >= this.#choice.limit) return 'completed';
    this.#extensions += 1;
    return null;
  }

  #post(texts: readonly string[]): void {
    if (this.#world.steering !== null) this.#waiting.push(...texts);
  }

  #drain(): void {
    if (!handsOver(this.#world)) return;
    this.words.push(...this.#waiting.map((text) => `user:[from Ann] ${text.toWellFormed()}`));
    this.#waiting = [];
  }
}

/** Whether a message that waits is ever had. */
const handsOver = ({ steering }: World): boolean =>
  steering !== null && ['ok', 'junk'].includes(steering.drain);

/** Whether the source says that messages wait, and hands over what does. */
const keepsGoing = (world: World): boolean =>
  handsOver(world) && ['ok', 'always'].includes(world.steering?.pending ?? 'absent');

/** Whether messages come at moments of which the model does not know where they fall. */
export const hasOpenMoments = ({ steering }: World): boolean => (steering?.posts.length ?? 0) > 0;

/** Which completed steps a message of an open moment may keep going. */
function extensionsOf(world: World): Choice['extended'][] {
  const posts = world.steering?.posts.length ?? 0;
  if (posts === 0 || !keepsGoing(world)) return [() => false];
  const steps = Array.from({ length: world.replies.length + 2 }, (_, step) => step);
  return [
    () => false,
    ...steps.map((one) => (at: number) => at === one),
    ...(posts < 2
      ? []
      : steps.flatMap((one) => steps.map((two) => (at: number) => at === one || at === two))),
  ];
}

/** Every course that the rules allow a world nobody cancels and nothing breaks in. */
export function coursesOf(world: World): string[][] {
  const courses = new Map<string, string[]>();
  const counts = world.timeouts.stream > 0 ? [true, false] : [true];
  for (const limit of limitsOf(world)) {
    for (const extended of extensionsOf(world)) {
      for (const generateCounts of counts) {
        for (const cutOff of ['some', 'all'] as const) {
          const course = new Play(world, { limit, extended, generateCounts, cutOff }).run();
          courses.set(course.join('\n'), course);
        }
      }
    }
  }
  return [...courses.values()];
}
