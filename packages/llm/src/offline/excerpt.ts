import type { FileResult } from './results.ts';
import { cutText, fenced, inlineCode, quoted } from './text.ts';
import { countMentions } from './words.ts';

/** Some lines of a file. */
export interface Excerpt {
  readonly path: string;
  readonly firstLine: number;
  readonly lines: readonly string[];
}

const MAX_EXCERPTS = 3;
const LONGEST_BLOCK = 14;
const BEFORE = 2;
const AFTER = 8;
const MAX_LINE = 240;
const MAX_CHARS = 1200;

/** The stretches of a file that say most about the topics, in the order they stand. */
export function findExcerpts(
  pieces: readonly FileResult[],
  topics: readonly string[],
): Excerpt[] {
  const found: { excerpt: Excerpt; score: number }[] = [];
  const seen = new Set<number>();
  for (const excerpt of pieces.flatMap((piece) => blocksOf(piece, topics))) {
    const score = scoreExcerpt(excerpt, topics);
    if (score === 0 || seen.has(excerpt.firstLine)) continue;
    seen.add(excerpt.firstLine);
    found.push({ excerpt, score });
  }
  return found
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_EXCERPTS)
    .map(({ excerpt }) => excerpt)
    .sort((a, b) => a.firstLine - b.firstLine);
}

/** The stretch that one line belongs to, which mentions the topic. */
export function excerptAt(piece: FileResult, line: number, topic: string): Excerpt | undefined {
  return blocksOf(piece, [topic]).find(
    ({ firstLine, lines }) => firstLine <= line && line < firstLine + lines.length,
  );
}

/** The beginning of a piece of a file. */
export function openingOf(piece: FileResult, lines: number): Excerpt {
  const start = Math.max(0, piece.lines.findIndex((line) => line.trim() !== ''));
  return excerptOf(piece, start, start + lines);
}

function excerptOf(piece: FileResult, start: number, end: number): Excerpt {
  const lines = piece.lines.slice(Math.max(0, start), end);
  while (lines.length > 1 && lines.at(-1)?.trim() === '') lines.pop();
  return { path: piece.path, firstLine: piece.firstLine + Math.max(0, start), lines };
}

/** Paragraphs, a heading with the one below it; of a long block, the lines around mentions. */
function blocksOf(piece: FileResult, topics: readonly string[]): Excerpt[] {
  const blocks: Excerpt[] = [];
  let start = 0;
  for (let index = 0; index <= piece.lines.length; index += 1) {
    const line = piece.lines[index];
    if (line !== undefined && line.trim() !== '') continue;
    if (line !== undefined && goesOn(piece, start, index, topics)) continue;
    addBlock(blocks, piece, start, index, topics);
    start = index + 1;
  }
  return blocks;
}

/**
 * Whether a block takes the paragraph after the empty line at `end` in as well: it is but a
 * heading so far, or it is a section about a topic that is still short.
 */
function goesOn(
  { lines }: FileResult,
  start: number,
  end: number,
  topics: readonly string[],
): boolean {
  const heading = lines[start] ?? '';
  if (!isHeading(heading)) return false;
  if (end - start === 1) return true;
  const isSection = topics.some((topic) => countMentions(heading, topic) > 0);
  const after = lines.slice(end, start + LONGEST_BLOCK + 1);
  const first = after.findIndex((line) => line.trim() !== '');
  if (!isSection || first < 0 || isHeading(after[first] ?? '')) return false;
  const isWhole = after.slice(first).some((line) => line.trim() === '');
  return isWhole || start + LONGEST_BLOCK >= lines.length;
}

function addBlock(
  blocks: Excerpt[],
  piece: FileResult,
  start: number,
  end: number,
  topics: readonly string[],
): void {
  if (end <= start) return;
  if (end - start <= LONGEST_BLOCK) {
    blocks.push(excerptOf(piece, start, end));
    return;
  }
  for (let index = start; index < end; index += 1) {
    if (!topics.some((topic) => countMentions(piece.lines[index] ?? '', topic) > 0)) continue;
    blocks.push(excerptOf(piece, Math.max(start, index - BEFORE), Math.min(end, index + AFTER)));
    index += AFTER;
  }
}

const isHeading = (line: string): boolean => /^#{1,6} /.test(line);

function scoreExcerpt({ lines }: Excerpt, topics: readonly string[]): number {
  let score = 0;
  for (const topic of topics) {
    const hits = lines.reduce((sum, line) => sum + countMentions(line, topic), 0);
    if (hits > 0) score += 10 + Math.min(hits, 5);
    const [first] = lines;
    if (first !== undefined && isHeading(first) && countMentions(first, topic) > 0) score += 5;
  }
  return score;
}

/**
 * An excerpt as the answer shows it: where it stands, then the lines, bounded. `totalLines`
 * are those of the file.
 */
export function showExcerpt(excerpt: Excerpt, totalLines: number | null = null): string {
  const lines = excerpt.lines.map((line) => cutText(line, MAX_LINE));
  const body = cutText(lines.join('\n'), MAX_CHARS);
  const last = excerpt.firstLine + excerpt.lines.length - 1;
  const span =
    last === excerpt.firstLine
      ? `line ${String(last)}`
      : `lines ${String(excerpt.firstLine)}–${String(last)}`;
  const prose = /\.(md|mdx|txt|rst|adoc)$|(^|\/)(LICENSE|README)$/i.test(excerpt.path);
  const all = totalLines === null ? '' : ` of ${String(totalLines)}`;
  return `${inlineCode(excerpt.path)}, ${span}${all}:\n\n${prose ? quoted(body) : fenced(body)}`;
}
