import fc from 'fast-check';
import { Lexer } from 'marked';
import { describe, expect, test } from 'vitest';

import { closeMarks } from '../page/model/close-marks.ts';
import { growBlocks, NO_BLOCKS, type Block, type Blocks } from '../page/model/markdown-blocks.ts';
import { MAX_NESTING } from '../page/model/markdown-limits.ts';

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

describe('what a growing block has begun to mark', () => {
  test.each([
    ['plain', 'plain'],
    ['a **bold', 'a **bold**'],
    ['a **bold*', 'a **bold**'],
    ['a **bold** b', 'a **bold** b'],
    ['a **', 'a '],
    ['a `co', 'a `co`'],
    ['a `co` b', 'a `co` b'],
    ['a `**` b', 'a `**` b'],
    ['a ~~gone', 'a ~~gone~~'],
    ['see [the docs](https://exam', 'see the docs'],
    ['see [the do', 'see the do'],
    ['see [the docs](https://a.example)', 'see [the docs](https://a.example)'],
    ['title\n=', 'title'],
    ['title\n-', 'title'],
    ['- one\n-', '- one'],
  ])('%j is shown as %j', (raw, shown) => {
    expect(closeMarks(raw)).toBe(shown);
  });
});

const HARD: [string, string][] = [
  ['quotes in quotes', `${'>'.repeat(3000)}a`],
  ['lists in lists', `${'1) '.repeat(2500)}a`],
  ['lists under lists', Array.from({ length: 90 }, (_, at) => `${' '.repeat(2 * at)}- a`).join('\n')],
  [
    'loose lists under lists',
    Array.from({ length: 90 }, (_, at) => `${' '.repeat(2 * at)}- a`).join('\n\n'),
  ],
  ['an address that never comes', `${'a.'.repeat(20_000)}@`],
  ['brackets', '['.repeat(40_000)],
  ['brackets of pictures', '!['.repeat(20_000)],
  ['brackets apart', '[ '.repeat(20_000)],
  ['emphasis in emphasis', '*a _b '.repeat(1500) + 'b_ a* '.repeat(1500)],
  ['a long paragraph', 'word '.repeat(5000)],
];

const allOf = ({ settled, open }: Blocks): Block[] => [...settled, ...open];

describe('what takes too much to read as Markdown is shown as it was written', () => {
  test.each(HARD)('%s', (_what, hard) => {
    const text = `**before**\n\n${hard}\n\n**after**\n`;
    for (const blocks of [growBlocks(NO_BLOCKS, text), grownBy(text, 997)]) {
      const all = allOf(blocks);
      expect(all.filter(({ isPlain }) => isPlain).length).toBeGreaterThan(0);
      const [first, last] = [all.at(0), all.at(-1)];
      expect(first).toEqual({ raw: '**before**', code: null, isPlain: false });
      expect(last).toMatchObject({ code: null, isPlain: false });
      expect(last?.raw.trimEnd()).toBe('**after**');
      const plain = all.filter(({ isPlain }) => isPlain).map(({ raw }) => raw);
      for (const raw of plain) expect(hard).toContain(raw);
    }
  });

  test('but not what is in a fence, which needs no reading', () => {
    const code = `${'>'.repeat(3000)}\n\n${'x'.repeat(30_000)}`;
    const text = `a\n\n\`\`\`ts extra\n${code}\n\`\`\`\n\nb **c**\n`;
    for (const blocks of [growBlocks(NO_BLOCKS, text), grownBy(text, 997)]) {
      const all = allOf(blocks);
      expect(all.map(({ isPlain }) => isPlain)).toEqual([false, false, false]);
      expect(all[1]?.code).toEqual({ text: code, language: 'ts' });
    }
    const open = growBlocks(NO_BLOCKS, `~~~\n${code}`);
    expect(allOf(open).map((block) => block.code)).toEqual([{ text: code, language: '' }]);
  });

  test('and nothing of it is lost, whatever stands around it', () => {
    const piece = fc.constantFrom(
      'word\n',
      '\n',
      '- item\n',
      '> q\n',
      '```\n',
      '~~~\n',
      `${'> '.repeat(60)}deep\n`,
      `${'y'.repeat(2100)}\n`,
      '    four\n',
    );
    const lettersOf = (text: string): string => text.replaceAll(/\s/g, '');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        for (const blocks of [growBlocks(NO_BLOCKS, text), grownBy(text, 700)]) {
          expect(lettersOf(rawOf(blocks).join(''))).toBe(lettersOf(text));
        }
      }),
      { numRuns: 500, seed: 11 },
    );
  });

  test('nesting counts from a bound on', () => {
    const isPlain = (text: string): boolean[] =>
      allOf(growBlocks(NO_BLOCKS, text)).map((block) => block.isPlain);
    expect(isPlain(`${'>'.repeat(MAX_NESTING)} a`)).toEqual([false]);
    expect(isPlain(`${'>'.repeat(MAX_NESTING + 1)} a`)).toEqual([true]);
  });
});

/** The same by expressions that look again from every bracket. */
function withoutOpenLink(text: string): string {
  return text
    .replace(/!?\[([^\]\n]*)\]\([^)\s]*$/, '$1')
    .replace(/!?\[([^\]\n]*)$/, '$1');
}

test('an open link ends where expressions say', () => {
  const piece = fc.constantFrom('[', ']', '(', ')', '!', 'a', ' ', '\n', '](', '![');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      // what it does to other marks is not what this is about
      const text = `${pieces.join('')}.`;
      expect(closeMarks(text)).toBe(withoutOpenLink(text));
    }),
    { numRuns: 5000, seed: 5 },
  );
});

test.each([
  ['a ``co', 'a ``co``'],
  ['a ``c`o', 'a ``c`o``'],
  ['a ``co`', 'a ``co``'],
  ['a ``b`` `c', 'a ``b`` `c`'],
])('code that has begun in %j ends as in %j', (raw, shown) => {
  expect(closeMarks(raw)).toBe(shown);
});
