import { describe, expect, it } from 'vitest';

import {
  parseCommand,
  type AskCommand,
  type PromptCommand,
  type ServeCommand,
} from '../src/args.ts';
import type { TurnLimits } from '../src/limits.ts';
import type { ModelSettings } from '../src/model-settings.ts';
import type { ToolSettings } from '../src/tool-settings.ts';

const NO_LIMITS: TurnLimits = {
  timeoutMs: null,
  idleTimeoutMs: null,
  toolTimeoutMs: null,
  maxSteps: null,
  windowTokens: null,
};
const NO_TOOLS: ToolSettings = { servers: [], readOnly: false, yes: false };
const NO_MODEL: ModelSettings = { models: [], baseUrl: null, offline: false, images: true };
const ask = (question: string, given: Partial<AskCommand> = {}): AskCommand => ({
  kind: 'ask',
  question,
  images: [],
  root: null,
  session: { kind: 'new' },
  model: NO_MODEL,
  tools: NO_TOOLS,
  json: false,
  modelDelayMs: 0,
  limits: NO_LIMITS,
  ...given,
});
const prompt = (given: Partial<PromptCommand> = {}): PromptCommand => ({
  kind: 'prompt',
  bare: true,
  root: null,
  session: { kind: 'new' },
  model: NO_MODEL,
  tools: NO_TOOLS,
  modelDelayMs: 0,
  limits: NO_LIMITS,
  ...given,
});
const serve = (
  given: Partial<ServeCommand> = {},
  settings: Partial<ServeCommand['serve']> = {},
): ServeCommand => ({
  kind: 'serve',
  root: null,
  model: NO_MODEL,
  tools: NO_TOOLS,
  modelDelayMs: 0,
  limits: NO_LIMITS,
  serve: { port: null, tokenFile: null, logLevel: 'warn', ...settings },
  ...given,
});
const limited = (given: Partial<TurnLimits>): AskCommand =>
  ask('q', { limits: { ...NO_LIMITS, ...given } });
const modelled = (given: Partial<ModelSettings>): AskCommand =>
  ask('q', { model: { ...NO_MODEL, ...given } });
const help = { kind: 'help' } as const;
const version = { kind: 'version' } as const;

describe('what is asked for', () => {
  it.each([
    ['nothing', [], prompt()],
    ['options without a question', ['--root', 'src'], prompt({ bare: false, root: 'src' })],
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
    ['--model-delay', ['--model-delay', '20', 'q'], ask('q', { modelDelayMs: 20 })],
    ['--timeout', ['--timeout', '90', 'q'], limited({ timeoutMs: 90_000 })],
    ['--timeout with a fraction', ['--timeout=0.5', 'q'], limited({ timeoutMs: 500 })],
    ['--idle-timeout', ['--idle-timeout', '3', 'q'], limited({ idleTimeoutMs: 3000 })],
    ['--tool-timeout', ['--tool-timeout', '3', 'q'], limited({ toolTimeoutMs: 3000 })],
    ['--max-steps', ['--max-steps', '3', 'q'], limited({ maxSteps: 3 })],
    ['--window', ['--window', '8000', 'q'], limited({ windowTokens: 8000 })],
    ['--session FILE', ['--session', 'a.jsonl', 'q'],
      ask('q', { session: { kind: 'file', file: 'a.jsonl', mustExist: false } })],
    ['--session FILE --resume', ['--resume', '--session=a.jsonl', 'q'],
      ask('q', { session: { kind: 'file', file: 'a.jsonl', mustExist: true } })],
    ['--resume', ['--resume', 'q'], ask('q', { session: { kind: 'last' } })],
    ['--resume alone', ['--resume'], prompt({ bare: false, session: { kind: 'last' } })],
    ['--no-session', ['--no-session', 'q'], ask('q', { session: { kind: 'none' } })],
    ['--no-session alone', ['--no-session'], prompt({ bare: false, session: { kind: 'none' } })],
    ['--model', ['--model', 'deepseek:deepseek-chat', 'q'],
      modelled({ models: ['deepseek:deepseek-chat'] })],
    ['every --model, in their order', ['--model', 'a', 'q', '--model=b:c', '--model', 'a'],
      modelled({ models: ['a', 'b:c', 'a'] })],
    ['--base-url', ['--base-url', 'http://127.0.0.1:8080/v1', 'q'],
      modelled({ baseUrl: 'http://127.0.0.1:8080/v1' })],
    ['--base-url with a name and a password', ['--base-url=https://a:b@tea.test/', 'q'],
      modelled({ baseUrl: 'https://a:b@tea.test/' })],
    ['the last --base-url', ['--base-url=http://a', '--base-url=http://b', '--model=m', 'q'],
      modelled({ models: ['m'], baseUrl: 'http://b' })],
    ['--base-url with a model of another provider besides',
      ['--base-url=http://b', '--model=deepseek:', '--model=local:m', 'q'],
      modelled({ models: ['deepseek:', 'local:m'], baseUrl: 'http://b' })],
    ['--no-images', ['--no-images', 'q'], modelled({ images: false })],
    ['--offline', ['--offline', 'q'], modelled({ offline: true })],
    ['--offline alone', ['--offline'],
      prompt({ bare: false, model: { ...NO_MODEL, offline: true } })],
    ['every --image, in their order', ['--image', 'b.png', 'q', '--image=a.png'],
      ask('q', { images: ['b.png', 'a.png'] })],
    ['log FILE', ['log', 'a.jsonl'], { kind: 'log', file: 'a.jsonl', json: false } as const],
    ['log FILE --json', ['log', '--json', 'a'], { kind: 'log', file: 'a', json: true } as const],
    ['log of a file with a dash', ['log', '--', '-a'],
      { kind: 'log', file: '-a', json: false } as const],
    ['check FILE', ['check', 'a b.jsonl'], { kind: 'check', file: 'a b.jsonl' } as const],
    ['more words than a file', ['check', 'the', 'README', 'for', 'typos'],
      ask('check the README for typos')],
    ['one word', ['log'], ask('log')],
    ['a question in one word', ['log the errors'], ask('log the errors')],
    ['another spelling', ['Check', 'README.md'], ask('Check README.md')],
    ['serve', ['serve'], serve()],
    ['serve with where it is', ['serve', '--port', '8080', '--token-file=a', '--log-level=info'],
      serve({}, { port: 8080, tokenFile: 'a', logLevel: 'info' })],
    ['the first port', ['--port=0', 'serve'], serve({}, { port: 0 })],
    ['the last port', ['--port=65535', 'serve'], serve({}, { port: 65_535 })],
    ['serve with how turns are run',
      ['serve', '--root=a', '--model=m', '--read-only', '--yes', '--model-delay=5', '--window=9'],
      serve({
        root: 'a',
        model: { ...NO_MODEL, models: ['m'] },
        tools: { ...NO_TOOLS, readOnly: true, yes: true },
        modelDelayMs: 5,
        limits: { ...NO_LIMITS, windowTokens: 9 },
      })],
    ['serve with limits', ['serve', '--idle-timeout=1', '--tool-timeout=2', '--max-steps=3'],
      serve({
        limits: { ...NO_LIMITS, idleTimeoutMs: 1000, toolTimeoutMs: 2000, maxSteps: 3 },
      })],
    ['serve and more words', ['serve', 'the', 'tea'], ask('serve the tea')],
    ['serve after --', ['--', 'serve'], ask('serve')],
    ['a word of a sub-command after --', ['--', 'log', 'a.jsonl'], ask('log a.jsonl')],
    ['a word of a sub-command that is not the first', ['the', 'log'], ask('the log')],
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
    [['--rot', 'x', 'q'], 'unknown option "--rot"; did you mean --root?'],
    [['--Root=x', 'q'], 'unknown option "--Root"; did you mean --root?'],
    [['-root', 'x', 'q'], 'unknown option "-root"; did you mean --root?'],
    [['--josn', 'q'], 'unknown option "--josn"; did you mean --json?'],
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
        'celestea tools: expected no option but --root, --mcp, --read-only, --json, ' +
          `got ${word.replace(/=.*/, '')}`,
      ],
    ),
  ])('%j', (argv, error) => {
    expect(parseCommand(argv)).toEqual({ ok: false, error });
  });
});
