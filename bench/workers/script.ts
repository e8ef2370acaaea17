/**
 * What the model says, the same for every library: some steps of four tool calls, then one
 * reply of text deltas.
 */
export interface Plan {
  readonly steps: number;
  readonly deltas: number;
  /** Awaited by the model halfway through the deltas of its reply. */
  readonly pause?: () => Promise<void>;
}

/** What the caller of a turn got to see; compared with the plan, so that nothing is skipped. */
export interface Received {
  readonly characters: number;
  readonly toolResults: number;
}

/** One turn that is ready to start; the signal never fires. */
export type Turn = (signal: AbortSignal) => Promise<Received>;

/** Sets up what turns may share, and makes the turns of a plan; not timed. */
export type Subject = (plan: Plan) => () => Turn;

export interface PlannedCall {
  readonly id: string;
  readonly name: string;
  readonly args: { readonly n: number };
}

export const TOOL_NAMES = ['add_one', 'double', 'negate', 'square'] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

export const SYSTEM_PROMPT = 'You are an agent that works with tools.';
export const USER_INPUT = 'Work it out.';

const WORDS = ['The ', 'answer ', 'is ', 'in ', 'the ', 'second ', 'file, ', 'on ', 'line '];

export const deltaAt = (index: number): string => WORDS[index % WORDS.length] ?? '';

/** The reply as one text, for those whose protocol wants it whole at the end. */
export function replyText(deltas: number): string {
  let text = replyTexts.get(deltas);
  if (text === undefined) {
    text = Array.from({ length: deltas }, (_, index) => deltaAt(index)).join('');
    replyTexts.set(deltas, text);
  }
  return text;
}

const replyTexts = new Map<number, string>();

/**
 * The deltas of the reply in a library's own form. One async generator is the source of all of
 * them, so that its price is the same everywhere.
 */
export async function* replyDeltas<T>(
  plan: Plan,
  toEvent: (delta: string) => T,
  before: readonly T[] = [],
  after: () => readonly T[] = () => [],
): AsyncGenerator<T, undefined> {
  yield* before;
  const halfway = Math.floor(plan.deltas / 2);
  for (let index = 0; index < plan.deltas; index += 1) {
    if (index === halfway && plan.pause !== undefined) await plan.pause();
    yield toEvent(deltaAt(index));
  }
  yield* after();
}

/** The parts of a step of tool calls, from the same kind of source. */
export async function* events<T>(of: readonly T[]): AsyncGenerator<T, undefined> {
  await Promise.resolve();
  yield* of;
}

export const callsOf = (step: number): PlannedCall[] =>
  TOOL_NAMES.map((name, index) => ({
    id: `call_${String(step)}_${String(index)}`,
    name,
    args: { n: step },
  }));

/** What each tool does; a library wraps it in its own kind of tool. */
export function compute(name: ToolName, n: number): number {
  switch (name) {
    case 'add_one':
      return n + 1;
    case 'double':
      return n * 2;
    case 'negate':
      return -n;
    case 'square':
      return n * n;
    default:
      return name satisfies never;
  }
}

export const toolDescription = (name: ToolName): string => `Gives ${name} of a number.`;

/** The arguments of every tool, as a JSON Schema. */
export const PARAMETERS = {
  type: 'object',
  properties: { n: { type: 'number' } },
  required: ['n'],
  additionalProperties: false,
} as const;

/** Throws when a turn did not bring what its plan says. */
export function checkReceived(plan: Plan, { characters, toolResults }: Received): void {
  const expected = replyText(plan.deltas).length;
  const results = plan.steps * TOOL_NAMES.length;
  if (characters === expected && toolResults === results) return;
  throw new Error(
    `expected ${String(expected)} characters and ${String(results)} tool results, ` +
      `got ${String(characters)} and ${String(toolResults)}`,
  );
}
