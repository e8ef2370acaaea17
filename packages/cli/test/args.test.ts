import { describe, expect, it } from 'vitest';

import { parseCommand, type AskCommand } from '../src/args.ts';

const ask = (question: string, given: Partial<AskCommand> = {}): AskCommand => ({
  kind: 'ask',
  question,
  root: null,
  json: false,
  modelDelayMs: 0,
  ...given,
});
const help = { kind: 'help' } as const;
const version = { kind: 'version' } as const;

describe('what is asked for', () => {
  it.each([
    ['nothing', [], help],
    ['options without a question', ['--root', 'src'], help],
    ['-h', ['-h'], help],
    ['--help', ['--help'], help],
    ['help, whatever is wrong beside it', ['--bogus', '--root', '--help', '-h', 'q'], help],
    ['--version', ['--version'], version],
    ['a question', ['what is here?'], ask('what is here?')],
    ['a question in words', ['what', 'is', 'here?'], ask('what is here?')],
    ['a lone dash', ['what', 'is', '-'], ask('what is -')],
    ['--root DIR', ['--root', 'src', 'q'], ask('q', { root: 'src' })],
    ['--root=DIR', ['--root=-odd', 'q'], ask('q', { root: '-odd' })],
    ['the last --root', ['--root=a', '--root', 'b', 'q'], ask('q', { root: 'b' })],
    ['options between the words', ['a', '--json', 'b', '--root', 'c', 'd'],
      ask('a b d', { json: true, root: 'c' })],
    ['words after --', ['--json', '--', '--root', 'x', '-h'], ask('--root x -h', { json: true })],
    ['a second --', ['a', '--', 'b', '--', 'c'], ask('a b -- c')],
    ['-- at the end', ['a', '--'], ask('a')],
    ['-- alone', ['--'], help],
    ['--model-delay', ['--model-delay', '20', 'q'], ask('q', { modelDelayMs: 20 })],
  ])('%s', (_, argv, command) => {
    expect(parseCommand(argv)).toEqual({ ok: true, command });
  });
});

describe('what is wrong, what was expected and what came', () => {
  it.each([
    [['--bogus', 'q'], 'unknown option "--bogus"; words that start with - go after --'],
    [['--bogus=1'], 'unknown option "--bogus"; words that start with - go after --'],
    [['-x', 'q'], 'unknown option "-x"; words that start with - go after --'],
    [['--no-json', 'q'], 'unknown option "--no-json"; words that start with - go after --'],
    [['--toString', 'q'], 'unknown option "--toString"; words that start with - go after --'],
    [['--\x1b[2J', 'q'], 'unknown option "--\\x1b[2J"; words that start with - go after --'],
    [['--version', '-x'], 'unknown option "-x"; words that start with - go after --'],
    [['q', '--root'], '--root: expected a folder, got nothing'],
    [['--root=', 'q'], '--root: expected a folder, got an empty text'],
    [['--root', '', 'q'], '--root: expected a folder, got an empty text'],
    [['--root', '--json', 'q'],
      '--root: expected a folder, got "--json"; if that is it, write --root=…'],
    [['--json=yes', 'q'], '--json: expected no value, got "yes"'],
    [['--json'], 'question: expected some words, got nothing'],
    [['--json', ''], 'question: expected some words, got an empty text'],
    [[''], 'question: expected some words, got an empty text'],
    [[' ', '\n'], 'question: expected some words, got an empty text'],
    [['--model-delay', 'soon', 'q'],
      '--model-delay: expected a whole number of milliseconds from 0 to 2147483647, got "soon"'],
    [['--model-delay=-1', 'q'],
      '--model-delay: expected a whole number of milliseconds from 0 to 2147483647, got "-1"'],
    [['--model-delay=2147483648', 'q'],
      '--model-delay: expected a whole number of milliseconds from 0 to 2147483647, ' +
        'got "2147483648"'],
    [['--model-delay'], '--model-delay: expected a number of milliseconds, got nothing'],
  ])('%j', (argv, error) => {
    expect(parseCommand(argv)).toEqual({ ok: false, error });
  });
});
