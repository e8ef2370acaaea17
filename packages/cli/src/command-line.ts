import { parseArgs, type ParseArgsConfig } from 'node:util';

import { editDistance } from '@celestea/tools';

import { misused, Refusal } from './exit.ts';
import { isServed, shown } from './option-values.ts';
import {
  dashed,
  OPTION_NAMES,
  OPTIONS,
  type CommandName,
  type OptionName,
  type Options,
} from './options.ts';

/** What a command line asks for. */
export type Command =
  | { readonly kind: 'help' | 'version' }
  /** Runs one turn. */
  | { readonly kind: 'ask'; readonly input: string; readonly options: Options }
  /** Without an input: opens the prompt. `bare` is whether not even an option was given. */
  | { readonly kind: 'prompt'; readonly bare: boolean; readonly options: Options }
  /** Prints a session, or says what is wrong with it. */
  | { readonly kind: 'log' | 'check'; readonly file: string; readonly options: Options }
  /** Lists what the model is offered, or opens a host. */
  | { readonly kind: 'tools' | 'serve'; readonly options: Options };

/** The words of a command line, sorted. */
interface Given {
  readonly options: { -readonly [Name in OptionName]: Options[Name] };
  /** The options that were given, in their order. */
  readonly names: OptionName[];
  readonly words: string[];
  /** Whether `--` stands before the first word. */
  isEscaped: boolean;
}

/**
 * Reads the words after the command's name. Options may stand anywhere before `--`, and asking for
 * help wins over any mistake beside it. `log` and `check` with one word more, and `tools` and
 * `serve` alone, are sub-commands; all else that they begin is a question. Throws a
 * {@link Refusal} that says what was expected and what came.
 */
export function parseCommand(argv: readonly string[]): Command {
  const { tokens } = parseArgs({
    args: [...argv],
    options: PARSED,
    allowPositionals: true,
    strict: false, // the mistakes are told in our own words
    tokens: true,
  });
  const isHelp = tokens.some(
    (token) => token.kind === 'option' && token.name === 'help' && token.value === undefined,
  );
  if (isHelp) return { kind: 'help' };
  const usual = OPTION_NAMES.map((name) => [name, OPTIONS[name].usual]);
  const options = Object.fromEntries(usual) as Given['options'];
  const given: Given = { options, names: [], words: [], isEscaped: false };
  for (const token of tokens) {
    switch (token.kind) {
      case 'positional':
        given.words.push(token.value);
        break;
      case 'option':
        takeOption(given, token, argv[token.index] ?? token.rawName);
        break;
      case 'option-terminator':
        given.isEscaped = given.words.length === 0;
        break;
      default:
        token satisfies never;
    }
  }
  checkTogether(options);
  return options.version ? { kind: 'version' } : commandOf(given);
}

/** The table of options as Node's parser takes it. */
const PARSED: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
  OPTION_NAMES.map((name) => {
    const { alias, value } = OPTIONS[name];
    const type = value === null ? 'boolean' : 'string';
    return [dashed(name), alias === undefined ? { type } : { type, short: alias }];
  }),
);

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function takeOption(given: Given, token: OptionToken, typed: string): void {
  const { rawName, value, inlineValue } = token;
  const name = OPTION_NAMES.find((known) => dashed(known) === token.name);
  if (name === undefined) throw misused(unknownOption(typed.replace(/=.*$/s, '')));
  const taken = OPTIONS[name].value;
  const expected = `${rawName}: expected ${taken?.expected ?? 'no value'}`;
  if ((taken === null) !== (value === undefined)) {
    throw misused(`${expected}, got ${value === undefined ? 'nothing' : shown(value)}`);
  }
  if (value?.startsWith('-') === true && inlineValue !== true) {
    throw misused(`${expected}, got ${shown(value)}; if that is it, write ${rawName}=…`);
  }
  given.names.push(name);
  try {
    readValue(given.options, name, value ?? '');
  } catch (error) {
    throw error instanceof Refusal ? misused(`${rawName}: ${error.message}`) : error;
  }
}

function readValue<Name extends OptionName>(
  options: Pick<Given['options'], Name>,
  name: Name,
  text: string,
): void {
  options[name] = OPTIONS[name].read(text, options[name]);
}

/** A word near an option is a slip of the fingers; any other may have been meant as a word. */
function unknownOption(word: string): string {
  const near = nearestOption(word.replace(/^-+/, '').toLowerCase());
  const advice = near === null ? 'words that start with - go after --' : `did you mean --${near}?`;
  return `unknown option ${shown(word)}; ${advice}`;
}

/** The option that a mistyped word most likely means, or `null` when none is near. */
function nearestOption(word: string): string | null {
  const mistakes = word.length < 4 ? 1 : 2;
  const names = OPTION_NAMES.map(dashed);
  const [nearest] = names
    .map((name) => ({ name, distance: editDistance(word, name) }))
    .filter(({ name, distance }) => distance <= mistakes && distance < name.length - 1)
    .sort((one, other) => one.distance - other.distance);
  if (nearest !== undefined && word.length > 1) return nearest.name;
  return word.length < 4 ? null : (names.find((name) => name.includes(word)) ?? null);
}

/** Options that cannot stand beside each other. */
function checkTogether(options: Options): void {
  const { session, resume, model, baseUrl, offline, image } = options;
  if (options.noSession && (session !== null || resume)) {
    const other = session === null ? '--resume' : '--session';
    throw misused(`--no-session: expected neither --session nor --resume, got ${other}`);
  }
  const [first] = model;
  if (baseUrl !== null && first !== undefined && !model.some(isServed)) {
    const expected = 'a --model of that server, such as local: or a name without a provider';
    throw misused(`--base-url: expected ${expected}, got ${shown(first)}`);
  }
  if (offline && (first !== undefined || baseUrl !== null)) {
    const other = first === undefined ? '--base-url' : '--model';
    throw misused(`--offline: expected neither --model nor --base-url, got ${other}`);
  }
  if (options.noImages && image.length > 0) {
    throw misused('--no-images: expected no --image, got one');
  }
}

function commandOf(given: Given): Command {
  const { options, words } = given;
  const [, file = ''] = words;
  const name = commandNameOf(given);
  checkTaken(name, given);
  switch (name) {
    case 'turn':
      return turnOf(given);
    case 'log':
    case 'check':
      if (file === '') throw misused(`${name}: expected a file, got an empty text`);
      return { kind: name, file, options };
    case 'tools':
    case 'serve':
      return { kind: name, options };
    default:
      return name satisfies never;
  }
}

function commandNameOf({ words, isEscaped }: Given): CommandName {
  const [first] = words;
  if (isEscaped) return 'turn';
  if (words.length === 2 && (first === 'log' || first === 'check')) return first;
  return words.length === 1 && (first === 'tools' || first === 'serve') ? first : 'turn';
}

/** No command takes an option that it would have to ignore. */
function checkTaken(command: CommandName, { names }: Given): void {
  const other = names.find((name) => !OPTIONS[name].takenBy.includes(command));
  if (other === undefined) return;
  if (OPTIONS[other].takenBy.every((taker) => taker === 'serve')) {
    throw misused(`--${dashed(other)}: expected celestea serve, got another command`);
  }
  const taken = OPTION_NAMES.filter((name) => OPTIONS[name].takenBy.includes(command));
  const list = taken.map((name) => `--${dashed(name)}`).join(', ');
  const only = list === '' ? 'no option' : `no option but ${list}`;
  const expected = command === 'serve' ? 'an option of its own' : only;
  const usage = command === 'log' || command === 'check' ? `${command} FILE` : command;
  throw misused(`celestea ${usage}: expected ${expected}, got --${dashed(other)}`);
}

function turnOf({ options, names, words }: Given): Command {
  const input = words.join(' ').trim();
  if (input !== '') return { kind: 'ask', input, options };
  if (words.length > 0) throw misused('question: expected some words, got an empty text');
  if (options.json) throw misused('question: expected some words, got nothing');
  if (options.image.length > 0) {
    throw misused('--image: expected a question with it, got nothing');
  }
  return { kind: 'prompt', bare: names.length === 0, options };
}
