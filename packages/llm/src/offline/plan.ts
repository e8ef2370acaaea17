import { serdeJsonString, type ToolSpec } from '@celestea/core';
import type { Conversation } from './conversation.ts';
import type { KnownTool, PlannedCall } from './evidence.ts';
import { mergeMoves, planExplore } from './explore-plan.ts';
import type { Intent, ListIntent, Question } from './intent.ts';
import { NOTHING_TO_DO, type Move, type PlanContext } from './move.ts';
import { planRead } from './read-plan.ts';
import { planSearch } from './search-plan.ts';
import { inlineCode } from './text.ts';
import { planWrite } from './write-plan.ts';

/** Steps with tools that one question may take. */
export const MAX_STEPS = 4;
const MAX_CALLS = 8;

/** The decision of one step: the calls to make, or none when it is time to answer. */
export interface Plan extends Move {
  /** Whether calls were wanted but the question has had its steps. */
  readonly outOfSteps: boolean;
}

/** The tools the rules know, among the offered ones. */
export function knownTools(tools: readonly ToolSpec[]): Set<KnownTool> {
  const known: readonly KnownTool[] = ['list_dir', 'read_file', 'search_text', 'write_file'];
  return new Set(known.filter((name) => tools.some((tool) => tool.name === name)));
}

/** Decides the next calls for all parts of a question; those of one step can run in parallel. */
export function planNext(
  question: Question,
  { evidence, steps }: Pick<Conversation, 'evidence' | 'steps'>,
  offered: ReadonlySet<KnownTool>,
): Plan {
  const context = { evidence, offered };
  const wanted = mergeMoves(question.parts.map((part) => planIntent(part.intent, context)));
  if (steps >= MAX_STEPS) return { ...NOTHING_TO_DO, outOfSteps: wanted.calls.length > 0 };
  const calls = new Map<string, PlannedCall>();
  for (const call of wanted.calls) calls.set(`${call.name} ${serdeJsonString(call.args)}`, call);
  return { calls: [...calls.values()].slice(0, MAX_CALLS), why: wanted.why, outOfSteps: false };
}

function planIntent(intent: Intent, context: PlanContext): Move {
  switch (intent.kind) {
    case 'read':
      return planRead(intent, context);
    case 'search':
      return planSearch(intent, context);
    case 'list':
      return planList(intent, context);
    case 'explore':
      return planExplore(intent, context);
    case 'write':
      return planWrite(intent, context);
    case 'described':
    case 'greeting':
    case 'beyond':
    case 'capabilities':
      return NOTHING_TO_DO;
    default:
      return intent satisfies never;
  }
}

function planList({ path }: ListIntent, { evidence, offered }: PlanContext): Move {
  if (!offered.has('list_dir') || evidence.folder(path) !== undefined) return NOTHING_TO_DO;
  const what = path === null ? 'the folder' : inlineCode(path);
  const args = path === null ? {} : { path };
  return { calls: [{ name: 'list_dir', args }], why: [`I list what is in ${what}.`] };
}
