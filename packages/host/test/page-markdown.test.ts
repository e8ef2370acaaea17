import fc from 'fast-check';
import { Lexer } from 'marked';
import { describe, expect, test } from 'vitest';

import { growBlocks, MAX_MARKDOWN, NO_BLOCKS, type Blocks } from '../page/model/markdown-blocks.ts';

const REPLY = `# Heading

A paragraph with **bold** and \`code\`,
over two lines.

- one
- two

  more of two
- three

1. first

2. second

| a | b |
| - | - |
| 1 | 2 |

\`\`\`ts
const a = 1;

const b = 2;
\`\`\`

> quoted
goes on

Setext
======

the end`;

const rawOf = ({ settled, open }: Blocks): string[] => [...settled, ...open].map(({ raw }) => raw);
const wholeRaw = (text: string): string[] =>
  Lexer.lex(text, { gfm: true }).flatMap(({ type, raw }) => (type === 'space' ? [] : [raw]));
const grownBy = (text: string, size: number): Blocks => {
  let blocks = NO_BLOCKS;
  for (let end = size; end < text.length + size; end += size) {
    blocks = growBlocks(blocks, text.slice(0, end));
  }
  return blocks;
};

describe('the blocks of a text that grows', () => {
  test.each([1, 2, 3, 7, 50, 1000])('are those of the whole text, by pieces of %i', (size) => {
    expect(rawOf(grownBy(REPLY, size))).toEqual(wholeRaw(REPLY));
  });

  test('are those of the whole text, whatever it is made of', () => {
    const piece = fc.constantFrom(
      'word',
      ' and ',
      '\n',
      '\n\n',
      '**',
      '`',
      '- item\n',
      '1. item\n',
      '  ',
      '> ',
      '# ',
      '```\n',
      '---\n',
      '| a | b |\n',
      '| - | - |\n',
      '[a](b)',
      '<b>',
      '    ',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 14 }),
        fc.integer({ min: 1, max: 9 }),
        (pieces, size) => {
          const text = pieces.join('');
          const blocks = grownBy(text, size);
          expect(blocks.settledLength).toBeLessThanOrEqual(text.length);
          expect(rawOf(blocks).map((raw) => raw.trimEnd())).toEqual(
            wholeRaw(text).map((raw) => raw.trimEnd()),
          );
        },
      ),
      { numRuns: 2000, seed: 7 },
    );
  });

  test('that are settled stay the same objects', () => {
    const before = growBlocks(NO_BLOCKS, 'one\n\ntwo\n\nthree\n');
    const after = growBlocks(before, 'one\n\ntwo\n\nthree\n\nfour');
    expect(before.settled.map(({ raw }) => raw)).toEqual(['one', 'two']);
    before.settled.forEach((block, index) => {
      expect(after.settled[index]).toBe(block);
    });
  });

  test('are read anew when the text does not go on', () => {
    expect(rawOf(growBlocks(growBlocks(NO_BLOCKS, 'one\n\ntwo\n\nx'), 'other'))).toEqual(['other']);
  });

  test('know the text and the language of a fence, also one without an end', () => {
    const blocks = growBlocks(NO_BLOCKS, 'Look:\n\n```ts title=a\nconst a = 1;\nconst');
    expect(blocks.open.at(-1)?.code).toEqual({ text: 'const a = 1;\nconst', language: 'ts' });
    expect(blocks.settled.map(({ code }) => code)).toEqual([null]);
  });
});

describe('what is not read as Markdown is shown as it was written', () => {
  test('a text that is too long, however it came', () => {
    const text = '**word**\n\n'.repeat(MAX_MARKDOWN / 10);
    const within = grownBy(text, 9973);
    expect(within.open.every(({ isPlain }) => !isPlain)).toBe(true);
    for (const blocks of [growBlocks(within, `${text}more`), growBlocks(NO_BLOCKS, `${text}more`)]) {
      expect(blocks.settled).toEqual([]);
      expect(blocks.open).toEqual([{ raw: `${text}more`, code: null, isPlain: true }]);
    }
  });

  test('a block that is nested too deep to be read', () => {
    const text = `**before**\n\n${'>'.repeat(20_000)}a`;
    const { settled, open } = growBlocks(growBlocks(NO_BLOCKS, '**before**\n\nsome\n'), text);
    expect([...settled, ...open].at(-1)?.isPlain).toBe(true);
  });
});
