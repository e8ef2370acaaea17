import { Lexer, type Token, type Tokens } from 'marked';

/** A block of Markdown: a paragraph, a list, a fence. */
export interface Block {
  /** As it was written. */
  readonly raw: string;
  /** Of a fence, its text and language; `null` for every other block. */
  readonly code: { readonly text: string; readonly language: string } | null;
  /** Whether it is shown as it was written: it is too long to be read as Markdown, or cannot be. */
  readonly isPlain: boolean;
}

/** The blocks of a text that grows. */
export interface Blocks {
  /** They will not change as long as the text goes on within {@link MAX_MARKDOWN}. */
  readonly settled: readonly Block[];
  /** They may. */
  readonly open: readonly Block[];
  /** How much of the text the settled ones take. */
  readonly settledLength: number;
  readonly text: string;
}

/** Of no text. */
export const NO_BLOCKS: Blocks = { settled: [], open: [], settledLength: 0, text: '' };

/** A longer text is not read as Markdown, in UTF-16 units: the worst of it would take too long. */
export const MAX_MARKDOWN = 100_000;

/**
 * The blocks of a text that begins with the one before: only what was not settled is read again.
 * A text that begins otherwise is read anew.
 */
export function growBlocks(before: Blocks, text: string): Blocks {
  if (text === before.text) return before;
  if (text.length > MAX_MARKDOWN) return { ...NO_BLOCKS, open: [plainBlock(text)], text };
  if (!text.startsWith(before.text)) return growBlocks(NO_BLOCKS, text);
  const rest = text.slice(before.settledLength);
  const tokens = blockTokens(rest);
  if (tokens === null) return { ...before, open: [plainBlock(rest)], text };
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

function plainBlock(raw: string): Block {
  return { raw: raw.trimEnd(), code: null, isPlain: true };
}

/** The blocks alone: what is in their lines is read when they are drawn. `null` when it fails. */
function blockTokens(text: string): Token[] | null {
  try {
    return new Lexer({ gfm: true }).blockTokens(text);
  } catch {
    return null; // nested too deep
  }
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
    if (!isCode(token)) return [{ raw, code: null, isPlain: false }];
    const { text, lang = '' } = token;
    const code = { text, language: lang.split(/\s/)[0] ?? '' };
    return [{ raw, code, isPlain: false }];
  });
}

function isCode(token: Token): token is Tokens.Code {
  return token.type === 'code';
}
