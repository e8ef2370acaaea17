/**
 * The last block of a text that still grows, with what it has begun to write in bold, code or a
 * link brought to an end, so that it does not jump when the end comes. It runs for every frame, so
 * no step of it looks at a character again and again.
 */
export function closeMarks(raw: string): string {
  const begun = raw.replace(/\n(-+|=+|[*+#>]+|\d+[.)])?[ \t]*$/, ''); // a heading's line, an item
  const labelled = withoutOpenLabel(withoutOpenTarget(begun));
  const text = labelled.replace(/(^|[\s(])[*~]+$/, '$1'); // opens something of which nothing has come
  const { outside, openTicks } = readCode(text);
  return openTicks === '' ? closePairs(text, outside) : text + openTicks;
}

/** Of the first link whose target goes on to the end, its label. */
function withoutOpenTarget(text: string): string {
  let targetStart = text.length;
  while (targetStart > 0 && !/[)\s]/.test(text.charAt(targetStart - 1))) targetStart -= 1;
  let opening = -1;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '[' && opening < 0) opening = index;
    if (character !== ']' && character !== '\n') continue;
    const isTarget = text.startsWith('](', index) && index + 2 >= targetStart;
    if (isTarget && opening >= 0) return cutBefore(text, opening) + text.slice(opening + 1, index);
    opening = -1;
  }
  return text;
}

/** Of a link whose label goes on to the end, its label. */
function withoutOpenLabel(text: string): string {
  const lineStart = Math.max(text.lastIndexOf(']'), text.lastIndexOf('\n')) + 1;
  const opening = text.indexOf('[', lineStart);
  return opening < 0 ? text : cutBefore(text, opening) + text.slice(opening + 1);
}

/** What is before a bracket, and before the mark that makes a picture of it. */
function cutBefore(text: string, opening: number): string {
  return text.slice(0, text.charAt(opening - 1) === '!' ? opening - 1 : opening);
}

interface CodeSpans {
  /** The text without what stands in code. */
  readonly outside: string;
  /** What closes the code that has no end; empty when all has. */
  readonly openTicks: string;
}

function readCode(text: string): CodeSpans {
  const runs = [...text.matchAll(/`+/g)].map(({ 0: { length }, index }) => ({ length, index }));
  const closing = closingRuns(runs.map(({ length }) => length));
  let outside = '';
  let end = 0;
  let open: number | null = null;
  for (let at = 0; at < runs.length; at += 1) {
    const run = runs[at];
    const next = closing[at] ?? null;
    const closer = next === null ? undefined : runs[next];
    if (run === undefined) break;
    if (next === null || closer === undefined) {
      open ??= run.length;
      continue;
    }
    outside += text.slice(end, run.index);
    end = closer.index + closer.length;
    at = next;
  }
  const tail = /`*$/.exec(text)?.[0].length ?? 0;
  outside += text.slice(end);
  if (open === null) return { outside, openTicks: '' };
  // part of the closing run may be there already
  return { outside, openTicks: '`'.repeat(tail < open ? open - tail : open) };
}

/** For each run of backticks, the next one of the same length. */
function closingRuns(lengths: readonly number[]): (number | null)[] {
  const next = new Map<number, number>();
  const closing = lengths.map((): number | null => null);
  for (let at = lengths.length - 1; at >= 0; at -= 1) {
    const length = lengths[at] ?? 0;
    closing[at] = next.get(length) ?? null;
    next.set(length, at);
  }
  return closing;
}

function closePairs(text: string, outside: string): string {
  let closed = text;
  for (const mark of ['~~', '**']) {
    if (outside.split(mark).length % 2 === 1) continue;
    // half of the closing mark may be there already
    if (closed.endsWith(mark)) return closed.slice(0, -mark.length);
    closed = closed.endsWith(mark.charAt(0)) ? closed + mark.charAt(0) : closed + mark;
  }
  return closed;
}
