/** A text on one line without control characters, cut to `max` UTF-16 units. */
export function oneLine(text: string, max: number): string {
  const line = text.slice(0, max * 4).replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return (line.length <= max ? line : `${line.slice(0, max - 1)}…`).toWellFormed();
}

/** A text as inline code that its own backticks cannot end. */
export function inCode(text: string): string {
  const line = oneLine(text, 160);
  let fence = '`';
  while (line.includes(fence)) fence += '`';
  return fence === '`' ? `\`${line}\`` : `${fence} ${line} ${fence}`;
}

/** `1 line`, `3 lines`. */
export const counted = (count: number, one: string, more = `${one}s`): string =>
  `${String(count)} ${count === 1 ? one : more}`;

/** Lines as a quotation that keeps their indent. */
export function quoted(lines: readonly string[]): string {
  const indent = (line: string): string => ' '.repeat(Math.min(40, line.search(/\S|$/)));
  return lines.map((line) => `> ${indent(line)}${oneLine(line, 160)}`.trimEnd()).join('\n');
}

/** A word without its ending, so that `cancelling` finds `cancel` and `cancelled`. */
export function stem(word: string): string {
  const bare = word.toLowerCase().replace(/(?<=\w{4})(?:ations?|ings?|ed|ers?|ies|y|es|s|e)$/, '');
  return bare.length > 4 ? bare.replace(/([^aeiou])\1$/, '$1') : bare;
}
