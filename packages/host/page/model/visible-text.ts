/** A piece of a text as it is shown. */
export interface TextPart {
  readonly text: string;
  /** Whether it stands for characters that nobody would see. */
  readonly isEscape: boolean;
}

/**
 * What cannot be seen, or turns the characters around it: controls except newline and tab, what
 * Unicode calls default ignorable (zero-width, direction, tag and filler characters), separators
 * of lines, annotations, the blank of Braille, halves of pairs. An emoji keeps what says that it
 * is one.
 */
const HIDDEN =
  // eslint-disable-next-line no-control-regex -- these characters are what it is about
  /(?!(?<=\p{Extended_Pictographic})\ufe0f)[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u2800\ufff9-\ufffb\p{DI}\p{Cs}]+/gu;

/** More pieces cost more than they tell: the rest is one. */
const MAX_PARTS = 2000;

/** A text with what nobody would see as escapes, such as `\u202e`. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, escapes);
}

/** The same in pieces, so that escapes can be told from what was written. */
export function visibleParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: hidden, index } of text.matchAll(HIDDEN)) {
    if (parts.length >= MAX_PARTS) break;
    if (index > end) parts.push({ text: text.slice(end, index), isEscape: false });
    parts.push({ text: escapes(hidden), isEscape: true });
    end = index + hidden.length;
  }
  if (end < text.length) parts.push({ text: visibleText(text.slice(end)), isEscape: false });
  return parts;
}

/** The first `length` UTF-16 units of a text, one less where that would tear a pair apart. */
export function beginningOf(text: string, length: number): string {
  const isTorn = text.length > length && /[\ud800-\udbff]/.test(text.charAt(length - 1));
  return text.slice(0, isTorn ? length - 1 : length);
}

function escapes(hidden: string): string {
  return Array.from(hidden, escape).join('');
}

function escape(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}
