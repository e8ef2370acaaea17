/** What a text is to be read as. */
export interface MarkdownPart {
  readonly kind: 'markdown' | 'plain' | 'fence';
  /** As it was written, with the blank lines behind it. */
  readonly raw: string;
}

/** Deeper nesting is not read: every level takes stack. */
export const MAX_NESTING = 50;
/** The longest run of lines that is read, in UTF-16 units: what is in it is looked at again. */
const MAX_RUN = 20_000;
/** The longest run of ASCII without a space: links and addresses are looked for from each place. */
const MAX_WORD = 2000;
/** The most characters in a run that may begin or end emphasis, which nests, too. */
const MAX_MARKS = 2000;

const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const PREFIX = /(?:([ \t]+)|>[ \t]?|[-*+](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$))/y;

/** Whether a text can be read as Markdown as a whole, whatever of it is in fences. */
export function isReadable(text: string): boolean {
  return runsOf(text).every(isReadableRun);
}

/**
 * A text in parts: what can be read as Markdown, what can not and is shown as it is, and fences,
 * which need no reading. All but the last part stay as they are when the text grows.
 */
export function markdownParts(text: string): MarkdownPart[] {
  const parts: MarkdownPart[] = [];
  const add = (kind: MarkdownPart['kind'], raw: string): void => {
    const last = parts.at(-1);
    if (kind === 'markdown' && last?.kind === kind) {
      parts[parts.length - 1] = { kind, raw: last.raw + raw };
    } else if (raw !== '') {
      parts.push({ kind, raw });
    }
  };
  for (const { isFence, raw } of sectionsOf(text)) {
    if (isFence) add('fence', raw);
    else for (const run of runsOf(raw)) add(isReadableRun(run) ? 'markdown' : 'plain', run);
  }
  return parts;
}

interface Section {
  readonly isFence: boolean;
  readonly raw: string;
}

/** What is between fences, and the fences. */
function sectionsOf(text: string): Section[] {
  const sections: Section[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  const close = (): void => {
    if (lines.length > 0) sections.push({ isFence: fence !== null, raw: lines.join('') });
    lines = [];
  };
  for (const line of linesOf(text)) {
    const mark = FENCE.exec(line.trimEnd())?.[1] ?? null;
    if (fence === null && mark !== null) {
      close();
      fence = mark;
      lines.push(line);
    } else {
      lines.push(line);
      if (fence !== null && closesFence(line, fence)) {
        close();
        fence = null;
      }
    }
  }
  close();
  return sections;
}

function closesFence(line: string, fence: string): boolean {
  const text = line.trim();
  return text.startsWith(fence) && text === fence.charAt(0).repeat(text.length);
}

/** Lines without a blank one between them, each run with the blank lines behind it. */
function runsOf(text: string): string[] {
  const runs: string[] = [];
  const lines: string[] = [];
  let isBlank = false;
  for (const line of linesOf(text)) {
    const wasBlank = isBlank;
    isBlank = line.trim() === '';
    if (wasBlank && !isBlank) runs.push(lines.splice(0).join(''));
    lines.push(line);
  }
  if (lines.length > 0) runs.push(lines.join(''));
  return runs;
}

/** The lines of a text with their ends. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function isReadableRun(run: string): boolean {
  if (run.length > MAX_RUN) return false;
  if (run.split(/[^!-~]+/).some((word) => word.length > MAX_WORD)) return false;
  if (run.split(/[*_~]/, MAX_MARKS + 2).length > MAX_MARKS + 1) return false;
  return run.split('\n').every((line) => nestingOf(line) <= MAX_NESTING);
}

/** How many quotes and lists a line can stand in: two columns of indent may be a list each. */
function nestingOf(line: string): number {
  let columns = 0;
  let marks = 0;
  PREFIX.lastIndex = 0;
  for (let found = PREFIX.exec(line); found !== null; found = PREFIX.exec(line)) {
    const [, blank] = found;
    if (blank === undefined) marks += 1;
    else columns += blank.length + 3 * (blank.split('\t').length - 1);
    if (PREFIX.lastIndex >= line.length) break;
  }
  return marks + Math.floor(columns / 2);
}
