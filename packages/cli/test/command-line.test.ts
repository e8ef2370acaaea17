import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { parseCommand, type Command } from '../src/command-line.ts';
import { misused } from '../src/exit.ts';
import { helpText } from '../src/help.ts';
import { dashed, OPTION_NAMES, OPTIONS, type Options } from '../src/options.ts';

const NOTHING: Options = {
  root: null, json: false, model: [], baseUrl: null, offline: false, image: [], noImages: false,
  session: null, resume: false, noSession: false, mcp: [], readOnly: false, yes: false,
  timeout: null, idleTimeout: null, toolTimeout: null, maxSteps: null, window: null, modelDelay: 0,
  port: null, tokenFile: null, logLevel: 'warn', version: false, help: false,
};
const ask = (input: string, given: Partial<Options> = {}): Command => ({
  kind: 'ask', input, options: { ...NOTHING, ...given },
});
const prompt = (given: Partial<Options> = {}): Command => ({
  kind: 'prompt', bare: Object.keys(given).length === 0, options: { ...NOTHING, ...given },
});
const serve = (given: Partial<Options> = {}): Command => ({
  kind: 'serve', options: { ...NOTHING, ...given },
});
const file = (kind: 'log' | 'check', name: string, given: Partial<Options> = {}): Command => ({
  kind, file: name, options: { ...NOTHING, ...given },
});
const help = { kind: 'help' } as const;
const version = { kind: 'version' } as const;

describe('what is asked for', () => {
  it.each([
    ['nothing', [], prompt()],
    ['options without a question', ['--root', 'src'], prompt({ root: 'src' })],
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
    ['-- alone', ['--'], prompt()],
    ['--model-delay', ['--model-delay', '20', 'q'], ask('q', { modelDelay: 20 })],
    ['--timeout', ['--timeout', '90', 'q'], ask('q', { timeout: 90_000 })],
    ['--timeout with a fraction', ['--timeout=0.5', 'q'], ask('q', { timeout: 500 })],
    ['--idle-timeout', ['--idle-timeout', '3', 'q'], ask('q', { idleTimeout: 3000 })],
    ['--tool-timeout', ['--tool-timeout', '3', 'q'], ask('q', { toolTimeout: 3000 })],
    ['--max-steps', ['--max-steps', '3', 'q'], ask('q', { maxSteps: 3 })],
    ['--window', ['--window', '8000', 'q'], ask('q', { window: 8000 })],
    ['--session FILE', ['--session', 'a.jsonl', 'q'],
      ask('q', { session: 'a.jsonl' })],
    ['--session FILE --resume', ['--resume', '--session=a.jsonl', 'q'],
      ask('q', { session: 'a.jsonl', resume: true })],
    ['--resume', ['--resume', 'q'], ask('q', { resume: true })],
    ['--resume alone', ['--resume'], prompt({ resume: true })],
    ['--no-session', ['--no-session', 'q'], ask('q', { noSession: true })],
    ['--no-session alone', ['--no-session'], prompt({ noSession: true })],
    ['--model', ['--model', 'deepseek:deepseek-chat', 'q'],
      ask('q', { model: ['deepseek:deepseek-chat'] })],
    ['every --model, in their order', ['--model', 'a', 'q', '--model=b:c', '--model', 'a'],
      ask('q', { model: ['a', 'b:c', 'a'] })],
    ['--base-url', ['--base-url', 'http://127.0.0.1:8080/v1', 'q'],
      ask('q', { baseUrl: 'http://127.0.0.1:8080/v1' })],
    ['--base-url with a name and a password', ['--base-url=https://a:b@tea.test/', 'q'],
      ask('q', { baseUrl: 'https://a:b@tea.test/' })],
    ['the last --base-url', ['--base-url=http://a', '--base-url=http://b', '--model=m', 'q'],
      ask('q', { model: ['m'], baseUrl: 'http://b' })],
    ['--base-url with a model of another provider besides',
      ['--base-url=http://b', '--model=deepseek:', '--model=local:m', 'q'],
      ask('q', { model: ['deepseek:', 'local:m'], baseUrl: 'http://b' })],
    ['--no-images', ['--no-images', 'q'], ask('q', { noImages: true })],
    ['--offline', ['--offline', 'q'], ask('q', { offline: true })],
    ['--offline alone', ['--offline'],
      prompt({ offline: true })],
    ['every --image, in their order', ['--image', 'b.png', 'q', '--image=a.png'],
      ask('q', { image: ['b.png', 'a.png'] })],
    ['log FILE', ['log', 'a.jsonl'], file('log', 'a.jsonl')],
    ['log FILE --json', ['log', '--json', 'a'], file('log', 'a', { json: true })],
    ['log of a file with a dash', ['log', '--', '-a'],
      file('log', '-a')],
    ['check FILE', ['check', 'a b.jsonl'], file('check', 'a b.jsonl')],
    ['more words than a file', ['check', 'the', 'README', 'for', 'typos'],
      ask('check the README for typos')],
    ['one word', ['log'], ask('log')],
    ['a question in one word', ['log the errors'], ask('log the errors')],
    ['another spelling', ['Check', 'README.md'], ask('Check README.md')],
    ['serve', ['serve'], serve()],
    ['serve with where it is', ['serve', '--port', '8080', '--token-file=a', '--log-level=info'],
      serve({ port: 8080, tokenFile: 'a', logLevel: 'info' })],
    ['the first port', ['--port=0', 'serve'], serve({ port: 0 })],
    ['the last port', ['--port=65535', 'serve'], serve({ port: 65_535 })],
    ['serve with how turns are run',
      ['serve', '--root=a', '--model=m', '--read-only', '--yes', '--model-delay=5', '--window=9'],
      serve({ root: 'a', model: ['m'], readOnly: true, yes: true, modelDelay: 5, window: 9 })],
    ['serve with limits', ['serve', '--idle-timeout=1', '--tool-timeout=2', '--max-steps=3'],
      serve({ idleTimeout: 1000, toolTimeout: 2000, maxSteps: 3 })],
    ['serve and more words', ['serve', 'the', 'tea'], ask('serve the tea')],
    ['serve after --', ['--', 'serve'], ask('serve')],
    ['a word of a sub-command after --', ['--', 'log', 'a.jsonl'], ask('log a.jsonl')],
    ['a word of a sub-command that is not the first', ['the', 'log'], ask('the log')],
  ])('%s', (_, argv, command) => {
    expect(parseCommand(argv)).toEqual(command);
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
    [['--rot', 'x', 'q'], 'unknown option "--rot"; did you mean --root?'],
    [['--Root=x', 'q'], 'unknown option "--Root"; did you mean --root?'],
    [['-root', 'x', 'q'], 'unknown option "-root"; did you mean --root?'],
    [['--josn', 'q'], 'unknown option "--josn"; did you mean --json?'],
    [['--roots', 'q'], 'unknown option "--roots"; did you mean --root?'],
    [['--time-out', 'q'], 'unknown option "--time-out"; did you mean --timeout?'],
    [['--idle', 'q'], 'unknown option "--idle"; did you mean --idle-timeout?'],
    [['--ver', 'q'], 'unknown option "--ver"; words that start with - go after --'],
    [['--😀😀', 'q'], 'unknown option "--😀😀"; words that start with - go after --'],
    [['--max-step=3', 'q'], 'unknown option "--max-step"; did you mean --max-steps?'],
    [['--steps', '3', 'q'], 'unknown option "--steps"; did you mean --max-steps?'],
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
    ...['--timeout', '--idle-timeout', '--tool-timeout'].flatMap((option): [string[], string][] => {
      const expected = `${option}: expected a number of seconds`;
      return [
        [[option], `${expected}, got nothing`],
        ...['soon', '0', '1e3', '2147484', '0.0001', ''].map((text): [string[], string] => [
          [`${option}=${text}`, 'q'],
          `${expected} above 0, up to 2147483, got "${text}"`,
        ]),
      ];
    }),
    ...['0', 'many', '2.5', '9007199254740992'].map((text): [string[], string] => [
      [`--max-steps=${text}`, 'q'],
      `--max-steps: expected a whole number, 1 or more, got "${text}"`,
    ]),
    [['--max-steps'], '--max-steps: expected a number of steps, got nothing'],
    [['--window', '8k'], '--window: expected a whole number, 1 or more, got "8k"'],
    [['--window'], '--window: expected a number of tokens, got nothing'],
    [['--session'], '--session: expected a file, got nothing'],
    [['--session=', 'q'], '--session: expected a file, got an empty text'],
    [['--session', '--resume', 'q'],
      '--session: expected a file, got "--resume"; if that is it, write --session=…'],
    [['--resume=a', 'q'], '--resume: expected no value, got "a"'],
    [['--model'], '--model: expected a model, got nothing'],
    [['--model=', 'q'], '--model: expected the name of a model, got an empty text'],
    [['--model', 'a', '--model', ' ', 'q'],
      '--model: expected the name of a model, got an empty text'],
    [['--model', 'a\nb', 'q'], '--model: expected the name of a model, got "a\\nb"'],
    [['--model', '--json', 'q'],
      '--model: expected a model, got "--json"; if that is it, write --model=…'],
    [['--modle', 'a', 'q'], 'unknown option "--modle"; did you mean --model?'],
    [['--base-url'], '--base-url: expected a URL, got nothing'],
    ...[
      ['', 'an empty text'],
      ...['127.0.0.1:8080', 'ftp://tea.test', 'name:secret@tea.test', 'abc.secret', 'n:secret'].map(
        (text) => [text, 'a text that is no such URL'],
      ),
      ['http://name:secret', 'one that cannot be read'],
      ['http://', 'one that cannot be read'],
      ['http://tea.test/v1?key=secret', 'one with a query'],
      ['http://tea.test/v1#secret', 'one with a fragment'],
    ].map(([url = '', came = '']): [string[], string] => [
      [`--base-url=${url}`, 'q'],
      `--base-url: expected an http or https URL without a query, got ${came}`,
    ]),
    ...[['deepseek:x'], ['openai:', 'google:g']].map((models): [string[], string] => [
      ['--base-url=http://a', ...models.map((model) => `--model=${model}`), 'q'],
      '--base-url: expected a --model of that server, such as local: or a name without a ' +
        `provider, got ${JSON.stringify(models[0])}`,
    ]),
    [['--no-images', '--image=a.png', 'q'], '--no-images: expected no --image, got one'],
    [['--offline=yes', 'q'], '--offline: expected no value, got "yes"'],
    [['--offline', '--model', 'a', 'q'],
      '--offline: expected neither --model nor --base-url, got --model'],
    [['--base-url', 'http://a', '--offline', 'q'],
      '--offline: expected neither --model nor --base-url, got --base-url'],
    [['--image'], '--image: expected a file, got nothing'],
    [['--image=', 'q'], '--image: expected a file, got an empty text'],
    [['--image', 'a.png', '--image', '', 'q'], '--image: expected a file, got an empty text'],
    [['--image', 'a.png'], '--image: expected a question with it, got nothing'],
    [['--image', 'a.png', '--json'], 'question: expected some words, got nothing'],
    [['--sesion=a', 'q'], 'unknown option "--sesion"; did you mean --session?'],
    [['--no-session', '--resume', 'q'],
      '--no-session: expected neither --session nor --resume, got --resume'],
    [['--no-session', '--session', 'a', 'q'],
      '--no-session: expected neither --session nor --resume, got --session'],
    [['log', ''], 'log: expected a file, got an empty text'],
    [['check', ''], 'check: expected a file, got an empty text'],
    [['log', 'a', '--root', 'x'],
      'celestea log FILE: expected no option but --json, got --root'],
    [['--resume', 'log', 'a'], 'celestea log FILE: expected no option but --json, got --resume'],
    [['check', 'a', '--json'], 'celestea check FILE: expected no option, got --json'],
    [['serve', '--port'], '--port: expected a number, got nothing'],
    ...['65536', '1.5', '', 'http'].map((word): [string[], string] => [
      ['serve', `--port=${word}`],
      `--port: expected a whole number from 0 to 65535, got "${word}"`,
    ]),
    [['serve', '--port', '-1'],
      '--port: expected a number, got "-1"; if that is it, write --port=…'],
    [['serve', '--token-file='], '--token-file: expected a file, got an empty text'],
    [['serve', '--log-level=all'],
      '--log-level: expected one of debug, info, warn, error, got "all"'],
    [['serve', '--prt=1'], 'unknown option "--prt"; did you mean --port?'],
    [['serve', '--token=x'], 'unknown option "--token"; did you mean --token-file?'],
    [['serve', '--bind=0.0.0.0'], 'unknown option "--bind"; words that start with - go after --'],
    ...['--json', '--image=x', '--no-images', '--session=x', '--resume', '--no-session',
      '--timeout=1'].map((word): [string[], string] => [
      ['serve', word],
      `celestea serve: expected an option of its own, got ${word.replace(/=.*/, '')}`,
    ]),
    ...['--port=1', '--token-file=x', '--log-level=info'].flatMap((word) =>
      [['q'], [], ['tools'], ['serve', 'the', 'tea']].map((words): [string[], string] => [
        [...words, word],
        `${word.replace(/=.*/, '')}: expected celestea serve, got another command`,
      ]),
    ),
    [['log', 'a', '--image', 'x'],
      'celestea log FILE: expected no option but --json, got --image'],
    [['check', 'a', '--model', 'x'], 'celestea check FILE: expected no option, got --model'],
    ...['--image=x', '--no-images', '--model=x', '--base-url=http://x', '--offline'].map(
      (word): [string[], string] => [
        ['tools', word],
        'celestea tools: expected no option but --root, --json, --mcp, --read-only, ' +
          `got ${word.replace(/=.*/, '')}`,
      ],
    ),
  ])('%j', (argv, error) => {
    expect(() => parseCommand(argv)).toThrow(misused(error));
  });
});

describe('every option', () => {
  const visible = OPTION_NAMES.filter((name) => OPTIONS[name].help !== '');

  it('is in the help as it is typed, and nothing is wider than a terminal', () => {
    for (const name of visible) {
      const { value } = OPTIONS[name];
      const typed = `--${dashed(name)}${value === null ? '' : ` ${value.name}`}`;
      expect(helpText()).toMatch(new RegExp(`\\n  (?:-h, )?${typed.replace(/[[\]]/g, '\\$&')} `));
    }
    expect(helpText().split('\n').filter((line) => line.length > 100)).toEqual([]);
  });

  it('has a row of its own in README.md', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    const rows = readme.split('\n').filter((line) => line.startsWith('| `-'));
    const missing = visible.filter((name) => !rows.some((row) => row.includes(`--${dashed(name)}`)));
    expect(missing).toEqual([]);
  });
});
