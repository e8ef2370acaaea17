import {
  asksForLineCount,
  asksToExplain,
  clauseIntents,
  clauseTopics,
  mergeTopics,
  readClause,
  readIntent,
  readTopics,
  refersBack,
  searchFor,
  termQueries,
  vagueIntent,
  wordQueries,
  type Clause,
} from './clause.ts';
import type { Intent, Question, QuestionPart } from './intent.ts';
import { oneLine } from './text.ts';
import { tokenize, type Token } from './tokens.ts';
import { readWriteRequest } from './write-request.ts';

const MAX_QUESTION = 2000;
const MAX_PARTS = 6;
const CONJUNCTION = /^(and|then|also|plus|or|but|&)$/i;
const GREETING = new RegExp(
  '^(hi|hello|hey|hallo|hiya|good (morning|afternoon|evening|day)|thanks|thank you|greetings)' +
    '( there| celestea| everyone| again| a lot| very much)?[\\s!.,?]*$',
  'i',
);
const CAPABILITIES: readonly RegExp[] = [
  /\bwhat (else )?can you\b/i,
  /\b(who|what) are you\b/i,
  /\bhow can you help\b/i,
  /^\W*help( me)?\W*$/i,
  /\b(what|which|list)\b.{0,20}\byour tools\b/i,
  /\b(what|which|list)\b.{0,20}\btools\b.{0,30}\b(you|have|offered|available)\b/i,
];

/**
 * Reads a question by rules: it is split at commas and conjunctions, each clause is a file
 * to read, something to search, a folder to list, or neither; a clause that does not open
 * like a question continues the one before it. A request to write is read as a whole.
 */
export function parseQuestion(text: string): Question {
  const asked = text.slice(0, MAX_QUESTION).replace(/^\s*\[from [^\]\n]{0,80}\]\s*/, '').trim();
  const whole = oneLine(asked, 200);
  if (GREETING.test(asked) || asked === '') return only(whole, { kind: 'greeting' });
  // The text to write of a question that is cut here would be cut as well.
  const write = text.length > MAX_QUESTION ? null : readWriteRequest(asked);
  if (write !== null) return only(whole, write);
  const parts = readParts(splitClauses(tokenize(asked)).map(readClause));
  const vague = parts.every((part) => part.intent.kind === 'explore');
  if (vague && CAPABILITIES.some((rule) => rule.test(asked))) {
    return only(whole, { kind: 'capabilities' });
  }
  if (parts.length === 0) return only(whole, { kind: 'explore', topics: [] });
  return { parts: parts.slice(0, MAX_PARTS), dropped: Math.max(0, parts.length - MAX_PARTS) };
}

function only(text: string, intent: Intent): Question {
  return { parts: [{ text, intent }], dropped: 0 };
}

function splitClauses(tokens: readonly Token[]): Token[][] {
  const clauses: Token[][] = [[]];
  for (const token of tokens) {
    const joins = token.kind === 'word' && CONJUNCTION.test(token.text);
    if (token.text !== '' && !joins) clauses.at(-1)?.push(token);
    if (token.breaks || joins) clauses.push([]);
  }
  return clauses.filter((clause) => clause.length > 0);
}

function readParts(clauses: readonly Clause[]): QuestionPart[] {
  const parts: QuestionPart[] = [];
  for (const clause of clauses) {
    const last = parts.at(-1);
    const text = oneLine(clause.text, 200);
    if (GREETING.test(text)) continue;
    if (last !== undefined && isContinuation(clause, last.intent)) {
      parts.splice(-1, 1, ...continued(last, clause));
      continue;
    }
    const intents = clauseIntents(clause);
    if (intents.length > 0) {
      const lead = last?.intent.kind === 'explore' && isPreamble(last) ? parts.pop() : undefined;
      const said = lead === undefined ? text : `${lead.text} ${text}`;
      parts.push(...intents.map((intent) => ({ text: said, intent })));
    } else {
      addVague(parts, clause, text);
    }
  }
  return parts;
}

/** A clause that only leads up to the next one, such as `in this project,`. */
function isPreamble({ intent }: QuestionPart): boolean {
  return intent.kind === 'explore' && intent.topics.length === 0;
}

function isContinuation(clause: Clause, { kind }: Intent): boolean {
  if (refersBack(clause) && (kind === 'read' || kind === 'search')) return true;
  const empty = clauseTopics(clause).length === 0 && clause.paths.length === 0;
  const places = clause.tokens.some((token) => token.kind === 'folder');
  return !clause.opens || (empty && !places && clauseIntents(clause).length === 0);
}

function addVague(parts: QuestionPart[], clause: Clause, text: string): void {
  const last = parts.at(-1);
  const intent = vagueIntent(clause);
  if (last?.intent.kind !== 'explore' || intent.kind !== 'explore') {
    parts.push({ text, intent });
    return;
  }
  const all = mergeTopics(last.intent.topics, intent.topics);
  const merged: Intent = { kind: 'explore', topics: all };
  parts.splice(-1, 1, { text: `${last.text} ${text}`, intent: merged });
}

/** The part with what a clause adds to it, and the further parts it asks for in the same way. */
function continued(part: QuestionPart, clause: Clause): QuestionPart[] {
  const { intent } = part;
  const text = oneLine(clause.text, 200);
  const topics = clauseTopics(clause);
  const longer = `${part.text} … ${text}`;
  switch (intent.kind) {
    case 'read': {
      const files = clause.paths.map((token) => readIntent(token, clause));
      if (files.length > 0) return [part, ...files.map((file) => ({ text, intent: file }))];
      const more = mergeTopics(intent.topics, readTopics(clause));
      const countLines = intent.countLines || asksForLineCount(clause);
      return [{ text: longer, intent: { ...intent, topics: more, countLines } }];
    }
    case 'search': {
      const explain = intent.explain || asksToExplain(clause);
      const first = { text: part.text, intent: { ...intent, explain } };
      const added = refersBack(clause)
        ? []
        : moreSearches(intent.path, intent.queries, clause, explain);
      return [first, ...added.map((search) => ({ text, intent: search }))];
    }
    case 'list': {
      const folders = clause.tokens.filter(({ kind }) => kind === 'folder' || kind === 'word');
      const lists = folders.slice(0, 1).map((token): QuestionPart => {
        return { text, intent: { kind: 'list', path: token.text } };
      });
      return [part, ...(topics.length < 2 ? lists : [])];
    }
    case 'explore': {
      const intents = clauseIntents(clause);
      if (intents.length > 0) {
        const said = isPreamble(part) ? [] : [part];
        return [...said, ...intents.map((one) => ({ text, intent: one }))];
      }
      const all = mergeTopics(intent.topics, topics);
      return [{ text: longer, intent: { kind: 'explore', topics: all } }];
    }
    case 'beyond': {
      const intents = clauseIntents(clause);
      const more = intents.length > 0 ? intents : [vagueIntent(clause)];
      const further = more.filter(({ kind }) => kind !== 'beyond');
      const said = { text: further.length > 0 ? part.text : longer, intent };
      return [said, ...further.map((one) => ({ text, intent: one }))];
    }
    case 'write':
    case 'described':
    case 'greeting':
    case 'capabilities':
      return [part];
    default:
      return intent satisfies never;
  }
}

/** `find X in a.ts and b.ts` looks in both; `find X and Y` looks for both. */
function moreSearches(
  path: string | null,
  queries: Parameters<typeof searchFor>[0],
  clause: Clause,
  explain: boolean,
): Intent[] {
  const named = clause.paths.map((token) => token.text);
  if (path !== null && named.length > 0 && clause.terms.length === 0) {
    return named.map((name) => searchFor(queries, name, explain));
  }
  const terms = [...clause.terms, ...named];
  if (terms.length > 0) return terms.map((term) => searchFor(termQueries(term), path, explain));
  const { content } = clause;
  return content.length > 0 && content.length < 4
    ? [searchFor(wordQueries(content, clause), path, explain)]
    : [];
}
