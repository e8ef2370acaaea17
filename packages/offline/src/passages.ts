import { stem } from './text.ts';

/** Lines of a file, from one index up to and without another. */
export interface Passage {
  readonly from: number;
  readonly to: number;
}

const MAX_PASSAGES = 4;
const HEADING = /^#{1,6}\s/;
const NEW_PARAGRAPH = /^\s*(?:$|[-*|]|\d+\.|#{1,6}\s)/;

/**
 * The passages that say most about the topics, in the order of the file. A topic counts for more
 * the fewer lines have it, and twice in a heading, which brings its section.
 */
export function findPassages(lines: readonly string[], topics: readonly string[]): Passage[] {
  const scores = new Map<number, number>();
  for (const topic of new Set(topics.map(stem))) {
    const having = [...lines.entries()].filter(([, line]) => line.toLowerCase().includes(topic));
    for (const [index, line] of having) {
      const weight = (HEADING.test(line) ? 2 : 1) / having.length;
      scores.set(index, (scores.get(index) ?? 0) + weight);
    }
  }
  const ranked = [...scores].sort(([one, high], [other, low]) => low - high || one - other);
  const found: Passage[] = [];
  for (const [index, score] of ranked) {
    if (found.length === MAX_PASSAGES || score < (ranked[0]?.[1] ?? 0) / 2) break;
    const isTaken = found.some(({ from, to }) => index >= from && index < to);
    if (!isTaken) found.push({ from: index, to: endOf(lines, index) });
  }
  return found.sort((one, other) => one.from - other.from);
}

/** A section has at most 12 lines here, a paragraph 4. */
function endOf(lines: readonly string[], from: number): number {
  const isSection = HEADING.test(lines[from] ?? '');
  const rest = lines.slice(from + 1, from + (isSection ? 12 : 4));
  const end = rest.findIndex((line) => (isSection ? HEADING : NEW_PARAGRAPH).test(line));
  const length = (end === -1 ? rest : rest.slice(0, end)).findLastIndex((line) => /\S/.test(line));
  return from + 2 + length;
}
