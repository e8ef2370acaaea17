import { zeroUsage } from '@celestea/core';
import { describe, expect, test, vi } from 'vitest';

import { gistOf, resultText, wholeText } from '../page/model/result-text.ts';
import { timelineLanes } from '../page/model/timeline-bars.ts';
import type { Step } from '../page/model/view.ts';
import { agoWords, counted, durationWords, tokensWords } from '../page/model/words.ts';

describe('a result in words', () => {
  test('of a command is how it ended and what it wrote', () => {
    const value = { exit_code: 1, signal: null, stdout: 'out', stderr: '', timed_out: false };
    const parts = [
      { label: '', text: 'exit code 1' },
      { label: 'stdout', text: 'out' },
    ];
    expect(resultText(value)).toEqual({ parts, cut: null });
  });

  test('of a command that was ended says by what', () => {
    const value = {
      exit_code: null,
      signal: 'SIGTERM',
      stdout: '',
      stderr: '',
      timed_out: true,
      note: 'n',
    };
    expect(resultText(value).parts).toEqual([
      { label: '', text: 'ended by SIGTERM, its time was up\nn' },
    ]);
  });

  test('of a file is its text, and what was left out of it', () => {
    const note = 'lines from 3 to 9 were left out; read on with offset 3';
    const value = { path: 'a.md', text: 'one\ntwo', first_line: 1, truncated: true, note };
    const parts = [{ label: 'path a.md, first_line 1, truncated true', text: 'one\ntwo' }];
    expect(resultText(value)).toEqual({ parts, cut: note });
  });

  test.each([
    ['[… 24465 bytes left out …]', '24465 bytes left out'],
    ['[12 of 400 characters left out]', '12 of 400 characters left out'],
    ['[3 more items left out]', '3 more items left out'],
  ])('says that %s', (notice, cut) => {
    expect(resultText(`head ${notice} tail`).cut).toBe(cut);
  });

  test.each([
    ['a text', ['a text']],
    [null, []],
    [undefined, []],
    [7, ['7']],
    [[1], ['[\n  1\n]']],
    [{ a: 1 }, ['{\n  "a": 1\n}']],
  ])('of %j is its text or its JSON', (value, texts) => {
    const { parts, cut } = resultText(value);
    expect(parts.map(({ text }) => text)).toEqual(texts);
    expect(cut).toBeNull();
  });
});

describe('a value', () => {
  const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

  test('is its JSON, or says what of it is not shown', () => {
    const deepest = nested(200);
    expect(wholeText(deepest)).toEqual({ text: JSON.stringify(deepest, null, 2), isWhole: true });
    const long = wholeText(['x'.repeat(1_000_001)]);
    expect(long.isWhole).toBe(false);
    expect(long.text.slice(999_990)).toBe(
      `${'x'.repeat(10)}\n[… longer than 1,000,000 characters, the rest is left out …]`,
    );
  });

  test('of an old log that is nested too deep to be written says so', () => {
    const value = nested(8000);
    const note = '[… nested too deep to be shown …]';
    const written = vi.spyOn(JSON, 'stringify').mockImplementation(() => {
      throw new RangeError('Maximum call stack size exceeded');
    });
    expect(wholeText(value)).toEqual({ text: note, isWhole: false });
    expect(resultText(value).parts[0]?.text).toBe(note);
    expect(gistOf({ path: 'a', value })).toBe('path=a value=…');
    written.mockRestore();
  });

  test.each([
    [{ command: 'ls -l' }, 'ls -l'],
    [{ path: 'a.md', lines: [1, 2] }, 'path=a.md lines=[1,2]'],
    [{}, ''],
    ['a text', ''],
    [null, ''],
    [{ command: 'x'.repeat(200) }, `${'x'.repeat(120)}…`],
    [{ a: 'x'.repeat(200), b: 1 }, `a=${'x'.repeat(118)}…`],
  ])('%j has the gist %j', (args, gist) => {
    expect(gistOf(args)).toBe(gist);
  });
});

describe('a timeline', () => {
  const call = { id: 'a', name: 'look', startedMs: 200, endedMs: 300, isOk: false };
  const first: Step = { startedMs: 0, firstMs: 100, repliedMs: 200, calls: [call], open: [] };
  const second: Step = { startedMs: 300, firstMs: null, repliedMs: null, calls: [], open: [] };

  test('has a lane for each step and each call, as parts of the whole time', () => {
    const lanes = timelineLanes([first, second], 3, 400);
    expect(lanes.map(({ label, isStep }) => [label, isStep])).toEqual([
      ['Step 3', true],
      ['look', false],
      ['Step 4', true],
    ]);
    const bars = lanes.map((lane) =>
      lane.bars.map(({ kind, start, width }) => [kind, start, width]),
    );
    expect(bars).toEqual([
      [
        ['wait', 0, 0.25],
        ['reply', 0.25, 0.25],
      ],
      [['failed_call', 0.5, 0.25]],
      [['wait', 0.75, 0.25]],
    ]);
  });

  test('says the same in words', () => {
    const texts = timelineLanes([first, second], 1, 400)
      .flatMap(({ bars }) => bars)
      .map(({ text }) => text);
    expect(texts).toEqual([
      'Step 1: waited for the model, 100 ms, from 0 ms',
      'Step 1: the model replied, 100 ms, from 100 ms',
      'Step 1: look failed, 100 ms, from 200 ms',
      'Step 2: waited for the model, 100 ms, from 300 ms',
    ]);
  });

  test('of no step has no lane', () => {
    expect(timelineLanes([], 1, 0)).toEqual([]);
  });
});

test.each([
  [340, '340 ms'],
  [-5, '0 ms'],
  [4200, '4.2 s'],
  [59_949, '59.9 s'],
  [65_000, '1 min 05 s'],
])('%i milliseconds are %s', (milliseconds, words) => {
  expect(durationWords(milliseconds)).toBe(words);
});

test.each([
  [0, 'just now'],
  [5 * 60_000, '5 min ago'],
  [3 * 3_600_000, '3 h ago'],
  [86_400_000, '1970-01-01'],
])('%i milliseconds ago is %s', (milliseconds, words) => {
  expect(agoWords(0, milliseconds)).toBe(words);
});

test('tokens are counted in words, and none are not spoken of', () => {
  const usage = { prompt_tokens: 1200, completion_tokens: 34, total_tokens: 1234 };
  expect(tokensWords(zeroUsage())).toBe('');
  expect(tokensWords({ ...zeroUsage(), ...usage })).toBe('1,234 tokens (1,200 in, 34 out)');
  expect(counted(1, 'step')).toBe('1 step');
});
