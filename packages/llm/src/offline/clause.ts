import type { Intent, Query, SearchIntent } from './intent.ts';
import { USUAL_FOLDERS, type Token } from './tokens.ts';
import { isStopWord, rarestFirst, searchStem } from './words.ts';

/** A rule that takes exactly one of these words. */
const oneOf = (words: string): RegExp => new RegExp(`^(?:${words.replaceAll(' ', '|')})$`);

const SEARCH_VERBS = oneOf(
  'search searching find finds grep locate occurrence occurrences usage usages',
);
const FILES = oneOf(
  'file files module modules packages tests sources places document documents',
);
const VERBS = oneOf(
  'mention mentions contain contains use uses import imports reference references call calls ' +
    'define defines export exports implement implements declare declares need needs ' +
    'require requires',
);
const FORMS = oneOf(
  'mentioned contained used imported referenced called defined exported implemented declared ' +
    'handled documented mentioning containing using importing calling defining',
);
const COUNTING = oneOf('line lines number count long length');
const LIST_WORDS = oneOf('ls directory directories folder folders structure layout tree');
const EXPLAINING = oneOf("how why what whats what's explain describe");
const OPENING = oneOf(
  "what whats what's how why which where where's who when does do is are can could explain " +
    'describe tell summarise summarize summary show read open look check give list print display ' +
    'cat view compare',
);
const MAX_TERMS = 3;
const MAX_TOPICS = 8;

/** A stretch of a question between commas and conjunctions, with what its words look like. */
export interface Clause {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** All plain words in lower case. */
  readonly words: readonly string[];
  readonly paths: readonly Token[];
  /** Code names and quoted stretches. */
  readonly terms: readonly string[];
  /** Plain words that can be a topic. */
  readonly content: readonly string[];
  /** Whether it opens like a question or a command, and so stands for itself. */
  readonly opens: boolean;
}

/** Reads the tokens of one clause. */
export function readClause(tokens: readonly Token[]): Clause {
  const texts = (kind: Token['kind']): string[] =>
    tokens.filter((token) => token.kind === kind).map((token) => token.text);
  const words = texts('word').map((word) => word.toLowerCase());
  const first = words.find((word) => !/^(please|and|then|so|also|now|well)$/.test(word)) ?? '';
  return {
    text: tokens.map((token) => token.raw).join(' ').replace(/[\s,;:]+$/, ''),
    tokens,
    words,
    paths: tokens.filter((token) => token.kind === 'path'),
    terms: [...texts('code'), ...texts('quoted')].slice(0, MAX_TERMS),
    content: texts('word').filter((word) => !isStopWord(word) && /[\p{L}\p{N}]{2}/u.test(word)),
    opens: OPENING.test(first) || searchCue(words) !== null,
  };
}

/** What a clause asks for by itself; empty when no rule fits. */
export function clauseIntents(clause: Clause): Intent[] {
  const searches = searchIntents(clause);
  if (searches.length > 0) return searches;
  const { paths, terms } = clause;
  if (paths.length === 0 && terms.length === 0 && asksForList(clause)) {
    return [{ kind: 'list', path: folderIn(clause, true) }];
  }
  if (paths.length > 0) {
    return paths.map((token) => readIntent(token, clause));
  }
  const explain = asksToExplain(clause);
  const path = folderIn(clause, false);
  return terms.map((term) => searchFor(termQueries(term), path, explain));
}

/** Whether a clause asks about what was named before it: `and why does it exist`. */
export function refersBack({ words, paths, terms }: Clause): boolean {
  const names = paths.length > 0 || terms.length > 0;
  return !names && words.some((word) => /^(it|its|they|them|their)$/.test(word));
}

/** Reads the file that a path token of a clause names. */
export function readIntent(token: Token, clause: Clause): Intent {
  const [topics, countLines] = [readTopics(clause), asksForLineCount(clause)];
  return { kind: 'read', path: token.text, line: token.line, topics, countLines };
}

/** What a file is read for, beside the number of its lines. */
export function readTopics(clause: Clause): string[] {
  const counted = (word: string): boolean => asksForLineCount(clause) && COUNTING.test(word);
  return clauseTopics(clause).filter((word) => !counted(word));
}

/** `how many lines has src/loop.ts` */
export function asksForLineCount({ words }: Clause): boolean {
  const said = words.join(' ');
  return /\bhow (many lines|long)\b|\bnumber of lines\b|\bline count\b/.test(said);
}

/** What a clause is after that no rule fits: a look around, unless it holds nothing to look for. */
export function vagueIntent(clause: Clause): Intent {
  const unknown = clause.tokens.some(({ kind, text }) => kind === 'word' && !isStopWord(text));
  const hasWord = clause.terms.length > 0 || clause.content.some((word) => /\p{L}/u.test(word));
  if (unknown && !hasWord) return { kind: 'beyond' };
  return { kind: 'explore', topics: clauseTopics(clause) };
}

/** A search for the first of the wordings that is found. */
export function searchFor(
  queries: readonly Query[],
  path: string | null,
  explain: boolean,
): SearchIntent {
  return { kind: 'search', queries, path, explain };
}

/** A name as it stands, then in any case. */
export function termQueries(term: string): Query[] {
  return [
    { text: term, ignoreCase: false },
    { text: term, ignoreCase: true },
  ];
}

/** Plain words: first as a phrase if they are one, then the rarest of them, in any form. */
export function wordQueries(words: readonly string[], clause: Clause): Query[] {
  const joined = words.join(' ');
  const phrase = words.length > 1 && clause.text.includes(joined) ? [joined] : [];
  const single = rarestFirst(words).slice(0, 2).map(searchStem);
  const texts = new Set([...phrase, ...single]);
  return [...texts].map((text) => ({ text, ignoreCase: true }));
}

/** What a clause is about, beside the files it names. */
export function clauseTopics(clause: Clause): string[] {
  const dull = (word: string): boolean => FORMS.test(word) || SEARCH_VERBS.test(word);
  const content = clause.content.filter((word) => !dull(word.toLowerCase()));
  return mergeTopics(clause.terms, content);
}

/** Topics in their order, each once, and no more than can be looked for at once. */
export function mergeTopics(first: readonly string[], second: readonly string[]): string[] {
  return [...new Set([...first, ...second])].slice(0, MAX_TOPICS);
}

/** Whether a clause wants a reason or a way, not only a place. */
export function asksToExplain(clause: Clause): boolean {
  const first = clause.words[0] ?? '';
  return EXPLAINING.test(first) && !FILES.test(clause.words[1] ?? '');
}

type SearchCue = 'verb' | 'where' | 'files' | 'passive';

function searchCue(words: readonly string[]): SearchCue | null {
  const lookFor = words.some((w, i) => /^look(ing)?$/.test(w) && words[i + 1] === 'for');
  if (lookFor || words.some((word) => SEARCH_VERBS.test(word))) return 'verb';
  if (words.includes('where') || words.includes('who')) return 'where';
  const acts = words.some((word) => VERBS.test(word) || FORMS.test(word));
  const asksForFiles = words.some(
    (word, i) => FILES.test(word) && /^(which|what|many|all|the|any)$/.test(words[i - 1] ?? ''),
  );
  if (asksForFiles && acts) return 'files';
  const passive = words.some((word) => /^(is|are|was|were|gets?)$/.test(word));
  return passive && words.some((word) => FORMS.test(word)) ? 'passive' : null;
}

function searchIntents(clause: Clause): Intent[] {
  const cue = searchCue(clause.words);
  if (cue === null) return [];
  const { paths, terms } = clause;
  const folder = folderIn(clause, false);
  const objects = objectWords(clause).filter((word) => word !== folder);
  const named = paths.map((token) => token.text);
  const explain = asksToExplain(clause);
  if (named.length > 0 && terms.length === 0) {
    if (cue === 'files' && objects.length === 0) {
      return named.map((name) => searchFor(termQueries(name), folder, explain));
    }
    if (cue === 'passive' || objects.length === 0) return [];
  }
  const path = named[0] ?? folder;
  if (terms.length > 0) return terms.map((term) => searchFor(termQueries(term), path, explain));
  return objects.length > 0 ? [searchFor(wordQueries(objects, clause), path, explain)] : [];
}

function objectWords({ content }: Clause): string[] {
  return content.filter((word) => {
    const lower = word.toLowerCase();
    return ![SEARCH_VERBS, VERBS, FORMS, FILES].some((rule) => rule.test(lower));
  });
}

function asksForList(clause: Clause): boolean {
  const { words, tokens } = clause;
  const named = clause.content.filter((word) => !/^list$/i.test(word)).length;
  if (words.some((word) => LIST_WORDS.test(word))) return true;
  const files = words.indexOf('files');
  if (files > 0 && /^(what|which|show|list|the|all|many|me|any)$/.test(words[files - 1] ?? '')) {
    return named < 2;
  }
  if (words.includes('list')) return named < 2;
  const folders = tokens.some((token) => token.kind === 'folder');
  const asksWhatIsIn = /^what('|’)?s?( is| are)? (in|inside|under)\b/.test(words.join(' '));
  return folders ? named === 0 : asksWhatIsIn && named < 2;
}

/** The folder a clause names. `loose` takes any word after `in`, not only a usual folder name. */
function folderIn({ tokens }: Clause, loose: boolean): string | null {
  const folder = tokens.find((token) => token.kind === 'folder');
  if (folder !== undefined) return folder.text;
  for (const [index, token] of tokens.entries()) {
    const lower = token.text.toLowerCase();
    if (/^(folder|directory)$/.test(lower)) {
      const beside = [tokens[index - 1], tokens[index + 1]].find(namesFolder);
      if (beside !== undefined) return beside.text;
    }
    const next = tokens.slice(index + 1).find(({ text }) => !/^(the|a|of|in|is)$/i.test(text));
    if (!namesFolder(next)) continue;
    if (/^(in|inside|under|within)$/.test(lower) && USUAL_FOLDERS.includes(next.text)) {
      return next.text;
    }
    if (loose && /^(in|inside|under|within|of|list|ls)$/.test(lower)) return next.text;
  }
  return null;
}

function namesFolder(token: Token | undefined): token is Token {
  if (token?.kind === 'quoted') return true;
  if (token?.kind !== 'word' || !/^[\w.-]+$/.test(token.text)) return false;
  return !isStopWord(token.text) && !LIST_WORDS.test(token.text) && token.text !== 'list';
}
