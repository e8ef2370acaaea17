/** At most `max` UTF-16 units, never half a code point, with an ellipsis where text was cut. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, Math.max(0, max - 1));
  return `${cut.replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The text without control characters, which a terminal would obey; line breaks become `\n`. */
export function plainText(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n');
  return lines.replace(/\p{Cc}/gu, (mark) => (mark === '\n' || mark === '\t' ? mark : ''));
}

/** A text on one line, bounded. */
export function oneLine(text: string, max: number): string {
  return cutText(plainText(text.slice(0, max * 4)).replace(/\s+/g, ' ').trim(), max);
}

/** Text as inline code that its own backticks cannot end. */
export function inlineCode(text: string, max = 120): string {
  const line = oneLine(text, max);
  if (line === '') return '(empty)';
  if (!line.includes('`')) return `\`${line}\``;
  const runs = line.match(/`+/g) ?? [];
  const fence = '`'.repeat(1 + Math.max(...runs.map((run) => run.length)));
  return `${fence} ${line} ${fence}`;
}

/** A block of code that its own fences cannot end. */
export function fenced(text: string): string {
  let fence = '```';
  while (text.includes(fence)) fence += '`';
  return `${fence}\n${text}\n${fence}`;
}

/** Text as a Markdown quotation. */
export function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}

/** `1 file`, `3 files`, `2 matches`. */
export function count(number: number, noun: string): string {
  const plural = /(ch|s|x)$/.test(noun) ? `${noun}es` : `${noun}s`;
  return `${String(number)} ${number === 1 ? noun : plural}`;
}

/** Blocks under each other as long as they fit; says so when some did not. */
export function joinWithin(blocks: readonly string[], budget: number): string {
  const kept: string[] = [];
  let used = 0;
  for (const block of blocks) {
    if (kept.length > 0 && used + block.length > budget) {
      kept.push('(More was found; it is left out here.)');
      break;
    }
    kept.push(block);
    used += block.length;
  }
  return kept.join('\n\n');
}
