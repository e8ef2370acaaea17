import type { Evidence, PlannedCall } from './evidence.ts';
import type { Query, SearchIntent } from './intent.ts';
import { NOTHING_TO_DO, type Move, type PlanContext } from './move.ts';
import { readAround } from './read-plan.ts';
import type { FailedResult, Match, RawResult, SearchResult } from './results.ts';
import { inlineCode } from './text.ts';
import { countMentions } from './words.ts';

const MAX_FILES_READ = 2;

/** How far a search has come through its wordings. */
export type SearchState =
  | { readonly kind: 'open'; readonly query: Query }
  | { readonly kind: 'found'; readonly query: Query; readonly result: SearchResult }
  | { readonly kind: 'stopped'; readonly query: Query; readonly result: FailedResult | RawResult }
  | { readonly kind: 'nothing' };

/** Looks through the wordings in order up to the first that found something or failed. */
export function searchState(intent: SearchIntent, evidence: Evidence): SearchState {
  for (const query of intent.queries) {
    const result = evidence.resultOf(searchCall(query, intent.path));
    if (result === undefined) return { kind: 'open', query };
    if (result.kind === 'failed' || result.kind === 'raw') {
      return { kind: 'stopped', query, result };
    }
    if (result.kind === 'search' && result.matches.length > 0) {
      return { kind: 'found', query, result };
    }
  }
  return { kind: 'nothing' };
}

/** The next calls for something to search. */
export function planSearch(intent: SearchIntent, context: PlanContext): Move {
  if (!context.offered.has('search_text')) return NOTHING_TO_DO;
  const state = searchState(intent, context.evidence);
  switch (state.kind) {
    case 'open': {
      const call = searchCall(state.query, intent.path);
      return { calls: [call], why: [whySearch(intent, state.query)] };
    }
    case 'found':
      return intent.explain ? planReading(state.query, state.result, context) : NOTHING_TO_DO;
    case 'stopped':
    case 'nothing':
      return NOTHING_TO_DO;
    default:
      return state satisfies never;
  }
}

/** Reads around the places that are most likely to explain a find. */
function planReading(query: Query, result: SearchResult, context: PlanContext): Move {
  if (!context.offered.has('read_file')) return NOTHING_TO_DO;
  const places = bestPlaces(query, result.matches);
  const calls = places
    .map(({ path, line }) => readAround(path, line))
    .filter((call) => context.evidence.resultOf(call) === undefined);
  if (calls.length === 0) return NOTHING_TO_DO;
  const names = places.map(({ path, line }) => `${inlineCode(path)} around line ${String(line)}`);
  return { calls, why: [`To see how it is meant, I read ${names.join(' and ')}.`] };
}

function searchCall(query: Query, path: string | null): PlannedCall {
  return {
    name: 'search_text',
    args: {
      query: query.text,
      ...(path === null ? {} : { path }),
      ...(query.ignoreCase ? { ignore_case: true } : {}),
    },
  };
}

function whySearch({ path, queries }: SearchIntent, query: Query): string {
  const where = path === null ? '' : ` in ${inlineCode(path)}`;
  const again = queries[0] !== query;
  const how = query.ignoreCase ? ', in upper or lower case' : '';
  return again
    ? `That wording was not found; I search for ${inlineCode(query.text)}${where}${how}.`
    : `I search for ${inlineCode(query.text)}${where}${how}.`;
}

/** The most telling match of each of the most telling files. */
export function bestPlaces(query: Query, matches: readonly Match[]): Match[] {
  const files = new Map<string, { best: Match; score: number; hits: number }>();
  for (const match of matches) {
    const score = scoreMatch(query, match);
    const file = files.get(match.path);
    if (file === undefined) files.set(match.path, { best: match, score, hits: 1 });
    else {
      file.hits += 1;
      if (score > file.score) Object.assign(file, { best: match, score });
    }
  }
  const ranked = [...files.values()].sort(
    (a, b) => b.score + Math.min(b.hits, 5) - (a.score + Math.min(a.hits, 5)),
  );
  return ranked.slice(0, MAX_FILES_READ).map((file) => file.best);
}

const DEFINITION =
  /\b(function|class|interface|type|const|enum|def|fn|struct|trait|func|export|async)\b/;

function scoreMatch(query: Query, { path, text }: Match): number {
  let score = 0;
  if (/^\s*(import\b|export (type )?[{*])/.test(text)) score -= 4;
  else if (DEFINITION.test(text)) score += 4;
  if (/^\s*(\/\/|\*)/.test(text)) score -= 2;
  if (/^#+ /.test(text)) score += 4;
  if (/(^|\/)(tests?|__tests__|fixtures|bench)\/|\.(test|spec)\.|lock/.test(path)) score -= 5;
  if (countMentions(path.slice(path.lastIndexOf('/') + 1), query.text) > 0) score += 4;
  return score;
}
