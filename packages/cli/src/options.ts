import { parseArgs } from 'node:util';

import type { ReadNumber } from './limits.ts';
import { nearestName } from './nearest.ts';
import { safeLine } from './safe-text.ts';

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
  json: { type: 'boolean' },
  root: { type: 'string' },
  model: { type: 'string' },
  'base-url': { type: 'string' },
  offline: { type: 'boolean' },
  image: { type: 'string' },
  'no-images': { type: 'boolean' },
  session: { type: 'string' },
  resume: { type: 'boolean' },
  'no-session': { type: 'boolean' },
  mcp: { type: 'string' },
  'read-only': { type: 'boolean' },
  yes: { type: 'boolean' },
  timeout: { type: 'string' },
  'idle-timeout': { type: 'string' },
  'tool-timeout': { type: 'string' },
  'max-steps': { type: 'string' },
  window: { type: 'string' },
  'model-delay': { type: 'string' },
  port: { type: 'string' },
  'token-file': { type: 'string' },
  'log-level': { type: 'string' },
} as const;

/** The options, without their dashes. */
export type OptionName = keyof typeof OPTIONS;

/** What the value of an option is, for the message when it is missing. */
const VALUES: Partial<Record<OptionName, string>> = {
  root: 'a folder',
  model: 'a model',
  'base-url': 'a URL',
  image: 'a file',
  session: 'a file',
  mcp: 'a command or a URL',
  timeout: 'a number of seconds',
  'idle-timeout': 'a number of seconds',
  'tool-timeout': 'a number of seconds',
  'max-steps': 'a number of steps',
  window: 'a number of tokens',
  'model-delay': 'a number of milliseconds',
  port: 'a number',
  'token-file': 'a file',
  'log-level': 'a level',
};

/** The words of a command line, sorted. */
export interface Given {
  readonly flags: Set<OptionName>;
  /** The last value of each. */
  readonly values: Map<OptionName, string>;
  /** All values of each, in their order. */
  readonly lists: Map<OptionName, string[]>;
  readonly words: string[];
  /** Whether `--` stands before the first word. */
  readonly isEscaped: boolean;
  /** What is wrong: what was expected and what came. */
  readonly errors: string[];
}

/**
 * Sorts the words after the command's name; never throws. Options may stand anywhere before
 * `--`, and the last of a kind counts, save for those that may be given several times.
 */
export function readTokens(argv: readonly string[]): Given {
  const { tokens } = parseArgs({
    args: [...argv],
    options: OPTIONS,
    allowPositionals: true,
    strict: false, // the mistakes are told in our own words
    tokens: true,
  });
  const given = {
    flags: new Set<OptionName>(),
    values: new Map<OptionName, string>(),
    lists: new Map<OptionName, string[]>(),
    words: new Array<string>(),
    isEscaped: false,
    errors: new Array<string>(),
  };
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
  return given;
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function takeOption(given: Given, token: OptionToken, typed: string): void {
  const { name, rawName, value, inlineValue } = token;
  if (!isOption(name)) {
    given.errors.push(unknownOption(typed.replace(/=.*$/s, '')));
  } else if (OPTIONS[name].type === 'boolean') {
    if (value === undefined) given.flags.add(name);
    else given.errors.push(`${rawName}: expected no value, got ${shown(value)}`);
  } else if (value === undefined) {
    given.errors.push(`${rawName}: expected ${VALUES[name] ?? 'a value'}, got nothing`);
  } else if (inlineValue !== true && value.startsWith('-')) {
    const expected = `${rawName}: expected ${VALUES[name] ?? 'a value'}`;
    given.errors.push(`${expected}, got ${shown(value)}; if that is it, write ${rawName}=…`);
  } else {
    given.values.set(name, value);
    given.lists.set(name, [...(given.lists.get(name) ?? []), value]);
  }
}

/** The number that an option gives, else `null`; notes what is wrong with it among the errors. */
export function numberOf(
  { values, errors }: Given,
  name: OptionName,
  read: (text: string) => ReadNumber,
): number | null {
  const text = values.get(name);
  if (text === undefined) return null;
  const result = read(text);
  if (result.ok) return result.value;
  errors.push(`--${name}: expected ${result.expected}, got ${shown(text)}`);
  return null;
}

const isOption = (name: string): name is OptionName => Object.hasOwn(OPTIONS, name);

/** A word near an option is a slip of the fingers; any other may have been meant as a word. */
function unknownOption(word: string): string {
  const near = nearestName(word.replace(/^-+/, '').toLowerCase(), Object.keys(OPTIONS));
  const advice = near === null ? 'words that start with - go after --' : `did you mean --${near}?`;
  return `unknown option ${shown(word)}; ${advice}`;
}

/** A word as it was given, safe to show and bounded. */
export const shown = (word: string): string => `"${safeLine(word, 80)}"`;
