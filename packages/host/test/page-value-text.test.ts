import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { gistOf, resultText, valueText } from '../page/model/result-text.ts';
import { MAX_DEPTH, writeValue } from '../page/model/value-text.ts';

const nested = (depth: number, end = '1'): unknown =>
  JSON.parse('{"a":['.repeat(depth / 2) + end + ']}'.repeat(depth / 2));

describe('a value', () => {
  test.each(['  ', ''])('is written as JSON, indented by %j', (indent) => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(writeValue(value, indent)).toEqual({
          text: JSON.stringify(value, null, indent),
          isWhole: true,
        });
      }),
      { numRuns: 500, seed: 3 },
    );
  });

  test('is whole down to a depth, and says what is deeper', () => {
    const deepest = nested(MAX_DEPTH);
    expect(writeValue(deepest)).toEqual({
      text: JSON.stringify(deepest, null, 2),
      isWhole: true,
    });
    const { text, isWhole } = writeValue(nested(8000));
    expect(isWhole).toBe(false);
    expect(text).toContain('[… deeper than 100 levels …]');
    expect(writeValue(nested(MAX_DEPTH, '[]')).isWhole, 'nothing is left out of nothing').toBe(true);
  });

  test.each([
    ['texts', Array<string>(30).fill('x')],
    ['one text', ['x'.repeat(500)]],
    ['names', { ['x'.repeat(500)]: 1 }],
  ])('that is too long for its %s says so at its end', (_what, value) => {
    const { text, isWhole } = writeValue(value, '  ', 100);
    expect(isWhole).toBe(false);
    expect(text.slice(0, 100)).toBe(JSON.stringify(value, null, 2).slice(0, 100));
    expect(text.slice(100)).toBe(
      '\n[… longer than 100 characters, the rest is left out …]',
    );
  });

  test('of 8,000 levels is shown as a result and on one line', () => {
    const value = nested(8000);
    expect(resultText(value).parts[0]?.text).toBe(valueText(value));
    expect(resultText({ text: 'a', more: value }).parts[0]?.text).toBe('a');
    expect(gistOf({ path: 'a', value })).toMatch(/^path=a value=\{"a":\[/);
  });
});

test.each([
  [{ command: 'ls -l' }, 'ls -l'],
  [{ path: 'a.md', lines: [1, 2] }, 'path=a.md lines=[1,2]'],
  [{}, ''],
  ['a text', ''],
  [null, ''],
  [{ command: 'x'.repeat(200) }, `${'x'.repeat(120)}…`],
  [{ a: 'x'.repeat(200), b: 1 }, `a=${'x'.repeat(118)}…`],
])('the gist of %j is %j', (args, gist) => {
  expect(gistOf(args)).toBe(gist);
});
