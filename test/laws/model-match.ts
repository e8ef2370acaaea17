/** Holds what a turn wrote against the courses that the rules allow its world. */
import {
  effectiveOutcome,
  outcomePhase,
  type SessionEvent,
  type TurnOutcome,
} from '@celestea/core';

import { budgetOf, coursesOf, hasOpenMoments } from './model.ts';
import type { Ran } from './run-world.ts';
import type { World } from './worlds.ts';

export function endWord(outcome: TurnOutcome | undefined): string {
  const effective = effectiveOutcome(outcome);
  const kind = typeof effective === 'object' ? ` ${effective.error.kind}` : '';
  return `end:${outcomePhase(effective)}${kind}`;
}

const CANCELLED = 'cancelled before execution';

/** The rows of a turn in the model's words; a result goes by the name of its call. */
function wordsOf(rows: readonly SessionEvent[]): string[] {
  const names = new Map<string, string>();
  return rows.map((row): string => {
    switch (row.type) {
      case 'turn_start':
        return 'start';
      case 'turn_end':
        return endWord(row.outcome);
      case 'user_message':
        return `user:${row.text.toWellFormed()}`;
      case 'assistant_message':
        return `${row.calls_follow === true ? 'words' : 'reply'}:${row.text.toWellFormed()}`;
      case 'thinking_delta':
        return `think:${row.text.toWellFormed()}|${typeof row.meta === 'string' ? row.meta : ''}`;
      case 'tool_call': {
        const name = row.name.startsWith('tool_') ? row.name : '';
        names.set(row.id, name);
        return `call:${name}`;
      }
      case 'tool_result': {
        const name = names.get(row.id) ?? row.id;
        if (row.abandoned === true) return `result:${name}:abandoned`;
        if (row.error === CANCELLED) return `result:${name}:cancelled`;
        return `result:${name}:${row.error === null ? 'ok' : 'error'}`;
      }
    }
  });
}

const kindOf = (word: string | undefined): string => word?.split(':', 1)[0] ?? '';
const isCancelled = (word: string): boolean => /:(cancelled|abandoned)$/.test(word);
const callOf = (word: string): string => word.slice(0, word.lastIndexOf(':'));

/** Whether a cancelled turn may stop after these words of a course (L4.1, L4.5). */
function mayStop(said: readonly string[], course: readonly string[], steered: boolean): boolean {
  const next = course[said.length];
  const last = kindOf(said.at(-1));
  if (kindOf(next) === 'result') return false;
  if (kindOf(next) === 'call' && (last === 'words' || last === 'call')) return false;
  return !(last === 'reply' && next === 'end:completed' && !steered);
}

/** Whether the words are a course that a cancel cut. */
function isCut(words: readonly string[], course: readonly string[], steered: boolean): boolean {
  if (words.at(-1) !== 'end:cancelled') return false;
  const said = words.slice(0, -1);
  let cut = false;
  for (const [index, word] of said.entries()) {
    const due = course[index];
    if (due === undefined) return false;
    if (kindOf(word) === 'result' && isCancelled(word) && callOf(due) === callOf(word)) cut = true;
    else if (cut && kindOf(word) !== 'result') return false;
    else if (word !== due) {
      const burst = kindOf(word) === 'think' && kindOf(due) === 'think' && word.endsWith('|');
      return burst && index === said.length - 1 && due.startsWith(word.slice(0, -1));
    }
  }
  return mayStop(said, course, steered);
}

/** Whether the words are a course that had no room for a request (X7). */
function isOverBudget(words: readonly string[], course: readonly string[]): boolean {
  const said = words.slice(0, -1);
  if (words.at(-1) !== 'end:error generate') return false;
  if (said.some((word, at) => word !== course[at])) return false;
  const atStep = ['user', 'result', 'start', 'reply'].includes(kindOf(said.at(-1)));
  return atStep && mayStop(said, course, true);
}

/** Whether the words are a course in which a seam broke after so many rows (L2.7). */
function isBroken(words: readonly string[], course: readonly string[], { fault }: Ran): boolean {
  const at = fault?.rows ?? 0;
  if (words.slice(0, at).some((word, index) => word !== course[index])) return false;
  if (kindOf(words[at - 1]) === 'end') return words.length === at;
  const after = words.slice(at);
  if (fault?.appending === 'turn_end' || at === 0) return after.length === 0;
  const end = kindOf(after.at(-1)) === 'end' ? after.pop() : undefined;
  if (end !== undefined && end !== 'end:error generate') return false;
  return after.every((word) => ['result', 'user'].includes(kindOf(word)));
}

/** A spill that hangs ends its step by a cancel; where in the step is left open. */
const isLoose = ({ retention }: World): boolean => retention === 'hangs';

/** Without the messages whose moment the model does not know. */
const known = (words: readonly string[], world: World): string[] =>
  words.filter((word) => !hasOpenMoments(world) || !word.startsWith('user:[from Ann] '));

/** `null` when the turn kept to a course of its world, else the courses and what it did. */
export function courseFault(ran: Ran): string | null {
  const { world, aborts, fault, settled } = ran;
  const words = known(wordsOf(ran.rows), world);
  const courses = coursesOf(world).map((course) => known(course, world));
  const budget = budgetOf(world);
  const tight = budget !== null && budget < 1_000_000 && world.policy === null;
  // what a broken seam makes of a course that is not settled itself is left to the other laws
  if (fault !== null && (aborts.length > 0 || hasOpenMoments(world) || tight)) return null;
  const isTight =
    tight &&
    'outcome' in settled &&
    JSON.stringify(settled.outcome).includes('context budget exceeded');
  const planned = world.aborts.length > 0 || isLoose(world);
  const fits = courses.some((course) => {
    if (fault !== null) return isBroken(words, course, ran);
    if (words.join('\n') === course.join('\n')) return true;
    if (isTight) return isOverBudget(words, course);
    const steered = world.steering !== null;
    return aborts.length > 0 && planned && isCut(words, course, steered);
  });
  if (fits) return null;
  const shown = courses.slice(0, 3).map((course) => course.join(' '));
  return `${words.join(' ')}\nis none of\n${shown.join('\nor ')}`;
}
