import type { Evidence } from './evidence.ts';
import { excerptAt, findExcerpts, openingOf, showExcerpt } from './excerpt.ts';
import type { ListIntent, ReadIntent, SearchIntent } from './intent.ts';
import type { PlanContext } from './move.ts';
import { readAround, resolvePath } from './read-plan.ts';
import type { FileResult, Match, SearchResult, ToolResult } from './results.ts';
import { bestPlaces, searchState } from './search-plan.ts';
import { count, fenced, inlineCode, oneLine } from './text.ts';

const OPENING_LINES = 14;
const MAX_FILES = 10;
const MAX_LINES_NAMED = 8;
const MAX_ENTRIES = 60;

/** Why a tool brought nothing that the rules can use. */
export function showTrouble(what: string, result: Exclude<ToolResult, FileResult>): string {
  if (result.kind === 'failed') {
    return `${what} failed: ${oneLine(result.error, 300) || 'the tool gave no reason'}`;
  }
  const raw = result.kind === 'raw' ? result.text : '';
  return `${what} brought a result of a form I do not know:\n\n${fenced(raw)}`;
}

/** What a file says, as blocks of text. */
export function showFile(intent: ReadIntent, { evidence, offered }: PlanContext): string[] {
  const path = resolvePath(intent.path, evidence);
  const pieces = evidence.piecesOf(path);
  if (pieces.length === 0) {
    const trouble = evidence.readingTrouble(path);
    if (trouble !== undefined) return [showTrouble(`Reading ${inlineCode(path)}`, trouble)];
    return [notRead('read_file', `read ${inlineCode(path)}`, offered.has('read_file'))];
  }
  const moved = `There is no ${inlineCode(intent.path)}; I took ${inlineCode(path)} in its place.`;
  const blocks = path === intent.path ? [] : [moved];
  if (intent.countLines) blocks.push(showLineCount(path, pieces));
  if (intent.countLines && intent.topics.length === 0) return blocks;
  if (intent.topics.length === 0 || intent.line !== null) {
    blocks.push(...pieces.slice(0, 1).map((piece) => showOpening(piece, intent.line !== null)));
    return blocks;
  }
  const excerpts = findExcerpts(pieces, intent.topics);
  if (excerpts.length === 0) return [...blocks, showSilence(path, pieces, intent.topics)];
  return [...blocks, ...excerpts.map((excerpt) => showExcerpt(excerpt))];
}

function showLineCount(path: string, pieces: readonly FileResult[]): string {
  const total = pieces.find((piece) => piece.totalLines !== null)?.totalLines;
  if (typeof total === 'number') return `${inlineCode(path)} has ${count(total, 'line')}.`;
  const isEmpty = pieces.every(({ lines }) => lines.join('') === '');
  if (isEmpty) return `${inlineCode(path)} is empty.`;
  return `How many lines ${inlineCode(path)} has, the tool did not say.`;
}

function showOpening(piece: FileResult, around: boolean): string {
  if (piece.lines.every((line) => line.trim() === '')) return `${inlineCode(piece.path)} is empty.`;
  const excerpt = openingOf(piece, around ? 2 * OPENING_LINES : OPENING_LINES);
  return showExcerpt(excerpt, piece.totalLines);
}

function showSilence(
  path: string,
  pieces: readonly FileResult[],
  topics: readonly string[],
): string {
  const last = pieces.at(-1);
  const words = topics.slice(0, 4).map((topic) => inlineCode(topic)).join(', ');
  const silence = `${inlineCode(path)} does not mention ${words}`;
  return last?.truncated === true
    ? `${silence} as far as I read it (line ${String(last.lastLine)}).`
    : `${silence}.`;
}

/** A sentence for what was not done. */
function notRead(tool: string, what: string, isOffered: boolean): string {
  return isOffered
    ? `I did not come to ${what}.`
    : notOffered(tool, what);
}

/** A sentence for what cannot be done without a tool. */
export function notOffered(tool: string, what: string): string {
  return `I cannot ${what}: the tool ${inlineCode(tool)} is not offered to me.`;
}

/** What a search found, as blocks of text. */
export function showSearch(intent: SearchIntent, { evidence, offered }: PlanContext): string[] {
  const state = searchState(intent, evidence);
  const first = inlineCode(intent.queries[0]?.text ?? '');
  switch (state.kind) {
    case 'open':
      return [notRead('search_text', `search for ${first}`, offered.has('search_text'))];
    case 'stopped':
      return [showTrouble(`Searching for ${inlineCode(state.query.text)}`, state.result)];
    case 'nothing': {
      const tried = intent.queries.map((query) => inlineCode(query.text));
      const where = intent.path === null ? '' : ` in ${inlineCode(intent.path)}`;
      return [`Nothing was found for ${[...new Set(tried)].join(' or ')}${where}.`];
    }
    case 'found': {
      const shown = showMatches(state.query.text, state.result);
      const places = intent.explain ? bestPlaces(state.query, state.result.matches) : [];
      return [shown, ...places.flatMap((place) => showPlace(place, state.query.text, evidence))];
    }
    default:
      return state satisfies never;
  }
}

function showPlace({ path, line }: Match, topic: string, evidence: Evidence): string[] {
  const result = evidence.resultOf(readAround(path, line));
  if (result === undefined) return [];
  if (result.kind !== 'file') return [showTrouble(`Reading ${inlineCode(path)}`, result)];
  const piece = { ...result, path };
  return [showExcerpt(excerptAt(piece, line, topic) ?? openingOf(piece, OPENING_LINES))];
}

function showMatches(query: string, { matches, files, truncated }: SearchResult): string {
  const byFile = new Map<string, Match[]>();
  for (const match of matches) {
    const rows = byFile.get(match.path);
    if (rows === undefined) byFile.set(match.path, [match]);
    else rows.push(match);
  }
  const shown = [...byFile].slice(0, MAX_FILES);
  const lines = shown.map(([path, rows]) => showFileOfMatches(path, rows));
  const found = `${count(matches.length, 'match')} in ${count(files, 'file')}`;
  const head = `${inlineCode(query)}: ${found}${truncated ? ', and there may be more' : ''}.`;
  const left = files - lines.length;
  if (left > 0) lines.push(`- … and ${count(left, 'more file')}`);
  return `${head}\n\n${lines.join('\n')}`;
}

function showFileOfMatches(path: string, rows: readonly Match[]): string {
  const [first] = rows;
  if (first === undefined) return `- ${inlineCode(path)}`;
  const further = rows.slice(1, 1 + MAX_LINES_NAMED).map((row) => String(row.line));
  const more = rows.length > 1 + MAX_LINES_NAMED ? ', …' : '';
  const also =
    further.length === 0
      ? ''
      : ` (also ${further.length === 1 ? 'line' : 'lines'} ${further.join(', ')}${more})`;
  const place = inlineCode(`${path}:${String(first.line)}`, 200);
  return `- ${place} ${inlineCode(first.text, 100)}${also}`;
}

/** What is in a folder, as blocks of text. */
export function showFolder({ path }: ListIntent, { evidence, offered }: PlanContext): string[] {
  const name = path === null ? 'the folder' : inlineCode(path);
  const result = evidence.folder(path);
  if (result === undefined) return [notRead('list_dir', `list ${name}`, offered.has('list_dir'))];
  if (result.kind !== 'folder') return [showTrouble(`Listing ${name}`, result)];
  const { entries, truncated } = result;
  if (entries.length === 0) return [`${sentence(name)} is empty.`];
  const names = entries.map((entry) => `${entry.name}${entry.isFolder ? '/' : ''}`);
  const shown = names.slice(0, MAX_ENTRIES).map((entry) => inlineCode(entry));
  const more = names.length > MAX_ENTRIES || truncated ? ', …' : '';
  const number = `${String(entries.length)}${truncated ? ' or more' : ''}`;
  const noun = entries.length === 1 ? 'entry' : 'entries';
  return [`${sentence(name)} has ${number} ${noun}: ${shown.join(', ')}${more}`];
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
