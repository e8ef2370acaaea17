import { Lexer, type Token, type Tokens } from 'marked';

import { isReadable, markdownParts, type MarkdownPart } from './markdown-limits.ts';

/** A block of Markdown: a paragraph, a list, a fence. */
export interface Block {
  /** As it was written. */
  readonly raw: string;
  /** Of a fence, its text and language; `null` for every other block. */
  readonly code: { readonly text: string; readonly language: string } | null;
  /** Whether it is shown as it was written: reading it as Markdown would take too much. */
  readonly isPlain: boolean;
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
  const rest = text.slice(before.settledLength);
  if (isReadable(rest)) return grownBy(before, text, rest);
  const parts = markdownParts(rest);
  return parts.reduce((blocks, part, index) => {
    const isLast = index === parts.length - 1;
    return isLast ? withOpen(blocks, part, text) : withSettled(blocks, part);
  }, before);
}

function grownBy(before: Blocks, text: string, rest: string): Blocks {
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

/** A part behind which another has begun changes no more. */
function withSettled(before: Blocks, part: MarkdownPart): Blocks {
  return {
    ...before,
    settled: [...before.settled, ...partBlocks(part)],
    settledLength: before.settledLength + part.raw.length,
  };
}

function withOpen(before: Blocks, part: MarkdownPart, text: string): Blocks {
  return part.kind === 'markdown'
    ? grownBy(before, text, part.raw)
    : { ...before, open: partBlocks(part), text };
}

function partBlocks({ kind, raw }: MarkdownPart): Block[] {
  switch (kind) {
    case 'markdown': {
      const tokens = blockTokens(raw);
      return tokens === null ? [plainBlock(raw)] : blocksOf(tokens);
    }
    case 'plain':
      return [plainBlock(raw)];
    case 'fence':
      return [fenceBlock(raw)];
    default:
      return kind satisfies never;
  }
}

function plainBlock(raw: string): Block {
  return { raw: raw.trimEnd(), code: null, isPlain: true };
}

function fenceBlock(raw: string): Block {
  const [first = '', ...lines] = raw.split('\n');
  const fence = /^ *(`+|~+)[ \t]*(\S*)/.exec(first);
  const [, mark = '', language = ''] = fence ?? [];
  const last = lines.findLastIndex((line) => line !== '');
  const isClosed = lines[last]?.trim().startsWith(mark) === true;
  const text = (isClosed ? lines.slice(0, last) : lines).join('\n');
  return { raw, code: { text, language }, isPlain: false };
}

/** The blocks alone: what is in their lines is read when they are drawn. `null` when it fails. */
function blockTokens(text: string): Token[] | null {
  try {
    return new Lexer({ gfm: true }).blockTokens(text);
  } catch {
    return null;
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
