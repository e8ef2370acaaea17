import { Lexer, type Token, type Tokens } from 'marked';

/** A block of Markdown: a paragraph, a list, a fence. */
export interface Block {
  /** As it was written. */
  readonly raw: string;
  /** Of a fence, its text and language; `null` for every other block. */
  readonly code: { readonly text: string; readonly language: string } | null;
}

/** The blocks of a text that grows. */
export interface Blocks {
  /** They will not change, whatever comes. */
  readonly settled: readonly Block[];
  /** They may. */
  readonly open: readonly Block[];
  /** How much of the text the settled ones take. */
  readonly settledLength: number;
  readonly text: string;
}

/** Of no text. */
export const NO_BLOCKS: Blocks = { settled: [], open: [], settledLength: 0, text: '' };

/**
 * The blocks of a text that begins with the one before: only what was not settled is read again.
 * A text that begins otherwise is read anew.
 */
export function growBlocks(before: Blocks, text: string): Blocks {
  if (text === before.text) return before;
  if (!text.startsWith(before.text)) return growBlocks(NO_BLOCKS, text);
  const tokens = Lexer.lex(text.slice(before.settledLength), { gfm: true });
  const settledCount = countSettled(tokens);
  const settling = tokens.slice(0, settledCount);
  const length = settling.reduce((sum, { raw }) => sum + raw.length, 0);
  return {
    settled: length === 0 ? before.settled : [...before.settled, ...blocksOf(settling)],
    open: blocksOf(tokens.slice(settledCount)),
    settledLength: before.settledLength + length,
    text,
  };
}

/**
 * A block is settled when a blank line follows it and the first line after that is complete: until
 * then it may turn out to go on.
 */
function countSettled(tokens: readonly Token[]): number {
  for (let index = tokens.length - 1; index > 0; index -= 1) {
    const token = tokens[index];
    const before = tokens[index - 1];
    if (token === undefined || before === undefined || token.type === 'space') continue;
    const isApart = before.type === 'space' || before.raw.endsWith('\n\n');
    const isBegun = token.raw.includes('\n') || index < tokens.length - 1;
    if (isApart && isBegun) return index;
  }
  return 0;
}

function blocksOf(tokens: readonly Token[]): Block[] {
  return tokens.flatMap((token): Block[] => {
    if (token.type === 'space') return [];
    const { raw } = token;
    if (!isCode(token)) return [{ raw, code: null }];
    const { text, lang = '' } = token;
    return [{ raw, code: { text, language: lang.split(/\s/)[0] ?? '' } }];
  });
}

function isCode(token: Token): token is Tokens.Code {
  return token.type === 'code';
}

/**
 * The last block of a text that still grows, with what it has begun to write in bold, code or a
 * link brought to an end, so that it does not jump when the end comes.
 */
export function closeMarks(raw: string): string {
  const text = raw
    .replace(/\n(-+|=+|[*+#>]+|\d+[.)])?[ \t]*$/, '') // may become a heading's line or an item
    .replace(/!?\[([^\]\n]*)\]\([^)\s]*$/, '$1')
    .replace(/!?\[([^\]\n]*)$/, '$1')
    .replace(/(^|[\s(])[*~]+$/, '$1'); // opens something of which nothing has come
  const outside = text.replaceAll(/(`+)(?:(?!\1)[^])*?\1/g, '');
  if (outside.includes('`')) return `${text}\``;
  return closePairs(text, outside);
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
