import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { LinearPattern, StepBudget } from '../src/pattern.ts';

const linear = (source: string, steps = 1_000_000): LinearPattern =>
  new LinearPattern(source, new StepBudget(steps));

/** Parts of patterns whose meaning has to be the same as that of `RegExp`. */
const atom = fc.constantFrom(
  'a', 'b', '😀', '.', '[ab]', '[^a]', '[^]', '[\\]\\-]', '\\d', '\\w', '\\S', '\\u0061', '\\x62',
  '\\u{1F600}', '\\uD83D\\uDE00', '\\p{L}', '\\P{L}', '\\.', '\\n', '\\/', '\ud83d', '^', '$',
  '\\b', '\\B', '(?:)', '()',
);
const quantifier = fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{0}', '{2}', '{1,}', '{0,2}?');
const isEdge = (part: string): boolean => /^(?:[$^]|\\[Bb]|\(\?[=!].*)$/su.test(part);

const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    atom,
    fc
      .tuple(fc.constantFrom('(', '(?:', '(?<n>', '(?=', '(?!'), tie('pattern'))
      .map(([open, body]) => `${open}${body.replaceAll('?<n>', '')})`),
    fc
      .tuple(tie('part'), quantifier)
      .map(([part, times]) => (isEdge(part) ? part : `(?:${part})${times}`)),
  ),
  pattern: fc
    .array(fc.array(tie('part'), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((options) => options.map((parts) => parts.join('')).join('|')),
}));

const text = fc
  .array(fc.constantFrom('a', 'b', '1', ' ', '.', ']', '😀', '\n', '\ud83d', '\ude00'), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''));

/**
 * By the language's own rule: at the start of each code point. (Without `y`, V8 also finds what
 * is empty within a surrogate pair.)
 */
function isFound(source: string, given: string): boolean {
  const at = new RegExp(source, 'uy');
  const found = (index: number): boolean => {
    at.lastIndex = index;
    return at.test(given);
  };
  let index = 0;
  for (const character of given) {
    if (found(index)) return true;
    index += character.length;
  }
  return found(index);
}

describe('C3.7 a pattern cannot block', () => {
  test('C3.7 it says what RegExp says, for 10,000 random patterns and texts', () => {
    fc.assert(
      fc.property(pattern, text, (source, given) => {
        fc.pre((source.match(/\?<n>/g) ?? []).length <= 1);
        expect(linear(source).test(given)).toBe(isFound(source, given));
      }),
      { numRuns: 10_000 },
    );
  });

  test.each([
    ['(a+)+$', `${'a'.repeat(10_000)}!`, false],
    ['^(a|a)*$', `${'a'.repeat(10_000)}!`, false],
    ['^(?:a?){50}a{50}$', 'a'.repeat(50), true],
    ['^(?:(?:(?:a*)*)*)*b', 'a'.repeat(10_000), false],
    ['(x+x+)+y', 'x'.repeat(10_000), false],
    ['^(?=(?:a+)+$)(?!.*b)', `${'a'.repeat(10_000)}b`, false],
    ['^(?!(?:a+)+$)', `${'a'.repeat(10_000)}b`, true],
  ])('C3.7 %s takes steps in proportion to its text', (source, given, found) => {
    // RegExp needs 2 to the power of the length for most of these.
    expect(linear(source, 300 * given.length).test(given)).toBe(found);
  });

  test('C3.7 zod’s own patterns', () => {
    const email = '^(?!\\.)(?!.*\\.\\.)([\\w\'+\\-.]*)[\\w+-]@([A-Za-z\\d][A-Za-z\\d-]*\\.)+[A-Za-z]{2,}$';
    const texts = ['a@b.co', '.a@b.co', 'a..b@c.de', 'a@b', ''];
    expect(texts.map((each) => linear(email).test(each))).toEqual([true, false, false, false, false]);
  });

  test('C3.7 more steps than there are is an error', () => {
    const tooLong = 'the text is too long to match: that takes over 1000 steps';
    expect(() => linear('a', 1_000).test('b'.repeat(1_001))).toThrow(tooLong);
    expect(() => linear('(?:a?){50}b', 1_000).test('a'.repeat(900))).toThrow(tooLong);
    const budget = new StepBudget(1_000);
    const short = new LinearPattern('^a$', budget);
    for (let round = 0; round < 500; round += 1) {
      budget.reset();
      expect(short.test('a')).toBe(true);
    }
  });

  test.each<[string, string]>([
    ['(a)\\1', 'a backreference cannot be matched in an amount of time that is known beforehand'],
    ['(?<n>a)\\k<n>', 'a backreference cannot be'],
    ['(?<=a)b', 'a look behind or inline flags cannot be'],
    ['(?<!a)b', 'a look behind or inline flags cannot be'],
    ['a{1,20000}', 'the pattern is too large'],
    ['(?:(?:a{100}){100}){100}', 'the pattern is too large'],
    ['(?:){4000000000}', 'the pattern is too large'],
    ['(?:){4000000000,}', 'the pattern is too large'],
    ['[', 'Invalid regular expression'],
    ['\\-', 'Invalid regular expression'],
  ])('C3.7 what cannot be bounded is refused: %s', (source, reason) => {
    expect(() => linear(source)).toThrow(reason);
  });
});
