import type { Evidence, PlannedCall } from './evidence.ts';
import type { ExploreIntent, ReadIntent, SearchIntent } from './intent.ts';
import { searchFor } from './clause.ts';
import { NOTHING_TO_DO, type Move, type PlanContext } from './move.ts';
import { pieceMentions, planRead } from './read-plan.ts';
import { planSearch, searchState } from './search-plan.ts';
import { inlineCode } from './text.ts';
import { countMentions, rarestFirst, searchStem, stem } from './words.ts';

const MAX_WORDS = 2;

/** One search for each of the rarest words of a question. */
export function explorationSearches(intent: ExploreIntent, explain: boolean): SearchIntent[] {
  const words = rarestFirst(intent.topics).slice(0, MAX_WORDS);
  return words.map((word) => {
    return searchFor([{ text: searchStem(word), ignoreCase: true }], null, explain);
  });
}

/**
 * The files to read for a question that names none: the README, and the one file whose name
 * is a word of the question.
 */
export function explorationFiles(intent: ExploreIntent, evidence: Evidence): ReadIntent[] {
  const seen = evidence.seenFiles();
  const readme = seen.find((path) => /^readme(\.\w+)?$/i.test(path));
  const named = seen.find((path) => path !== readme && isNamed(path, intent.topics));
  const guess = evidence.folder(null)?.kind === 'folder' ? undefined : 'README.md';
  const paths = [readme ?? guess, named].filter((path) => path !== undefined);
  const { topics } = intent;
  return paths.map((path) => ({ kind: 'read', path, line: null, topics, countLines: false }));
}

function isNamed(path: string, topics: readonly string[]): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.\w+$/, '').toLowerCase();
  return topics.some((topic) => stem(topic) === stem(name));
}

/** The next calls for a question that fits no rule: list, search and read, look closer. */
export function planExplore(intent: ExploreIntent, context: PlanContext): Move {
  const { evidence, offered } = context;
  if (offered.has('list_dir') && evidence.folder(null) === undefined) {
    const call: PlannedCall = { name: 'list_dir', args: {} };
    return { calls: [call], why: ['No rule says where to look, so I list the folder first.'] };
  }
  const searches = explorationSearches(intent, false);
  const files = explorationFiles(intent, evidence);
  const moves = [
    ...searches.map((search) => planSearch(search, context)),
    ...files.map((file) => planRead(file, context)),
  ];
  const wide = mergeMoves(moves);
  return wide.calls.length > 0 ? wide : lookCloser(intent, context);
}

/** When the files read say nothing of the topic, reads where the searches found it. */
function lookCloser(intent: ExploreIntent, context: PlanContext): Move {
  const told = explorationFiles(intent, context.evidence).some((file) =>
    context.evidence.piecesOf(file.path).some((piece) => pieceMentions(piece, file.topics)),
  );
  if (told) return NOTHING_TO_DO;
  const hit = explorationSearches(intent, true).find(
    (search) => searchState(search, context.evidence).kind === 'found',
  );
  return hit === undefined ? NOTHING_TO_DO : planSearch(hit, context);
}

/** The calls and reasons of several moves, each once. */
export function mergeMoves(moves: readonly Move[]): Move {
  return {
    calls: moves.flatMap((move) => move.calls),
    why: [...new Set(moves.flatMap((move) => move.why))],
  };
}

/** What a question that fits no rule is about, in words. */
export function topicsInWords(topics: readonly string[]): string {
  const words = rarestFirst(topics.filter((topic) => countMentions(topic, topic) > 0));
  return words.slice(0, 3).map((word) => inlineCode(word)).join(', ');
}
