import { parseArgs } from 'node:util';

import { safeLine } from './safe-text.ts';

/** Runs one turn. */
export interface AskCommand {
  readonly kind: 'ask';
  readonly question: string;
  /** As it was given; `null` for the current folder. */
  readonly root: string | null;
  /** Frames instead of text. */
  readonly json: boolean;
  /** Milliseconds the offline model waits between two pieces; for demonstrations and tests. */
  readonly modelDelayMs: number;
}

/** What a command line asks for. A sub-command is a new member. */
export type Command = { readonly kind: 'help' } | { readonly kind: 'version' } | AskCommand;

/** A command, or what is wrong with the command line: what was expected and what came. */
export type ParsedArgs =
  | { readonly ok: true; readonly command: Command }
  | { readonly ok: false; readonly error: string };

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
  json: { type: 'boolean' },
  root: { type: 'string' },
  'model-delay': { type: 'string' },
} as const;

type OptionName = keyof typeof OPTIONS;

/** What the value of an option is, for the message when it is missing. */
const VALUES: Partial<Record<OptionName, string>> = {
  root: 'a folder',
  'model-delay': 'a number of milliseconds',
};

const LONGEST_DELAY = 2 ** 31 - 1;

/**
 * Reads the words after the command's name; never throws. Options may stand anywhere before
 * `--`, the last of a kind counts, and asking for help wins over any mistake beside it.
 */
export function parseCommand(argv: readonly string[]): ParsedArgs {
  const given = readTokens(argv);
  if (given.flags.has('help')) return { ok: true, command: { kind: 'help' } };
  const [error] = given.errors;
  if (error !== undefined) return { ok: false, error };
  if (given.flags.has('version')) return { ok: true, command: { kind: 'version' } };
  return askCommand(given);
}

interface Given {
  readonly flags: Set<OptionName>;
  readonly values: Map<OptionName, string>;
  readonly words: string[];
  readonly errors: string[];
}

function readTokens(argv: readonly string[]): Given {
  const { tokens } = parseArgs({
    args: [...argv],
    options: OPTIONS,
    allowPositionals: true,
    strict: false, // the mistakes are told in our own words
    tokens: true,
  });
  const given: Given = { flags: new Set(), values: new Map(), words: [], errors: [] };
  for (const token of tokens) {
    switch (token.kind) {
      case 'positional':
        given.words.push(token.value);
        break;
      case 'option':
        takeOption(given, token);
        break;
      case 'option-terminator':
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

function takeOption(given: Given, { name, rawName, value, inlineValue }: OptionToken): void {
  if (!isOption(name)) {
    given.errors.push(`unknown option ${shown(rawName)}; words that start with - go after --`);
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
  }
}

const isOption = (name: string): name is OptionName => Object.hasOwn(OPTIONS, name);

function askCommand({ flags, values, words }: Given): ParsedArgs {
  const question = words.join(' ').trim();
  const json = flags.has('json');
  if (words.length === 0 && !json) return { ok: true, command: { kind: 'help' } };
  if (question === '') {
    const came = words.length === 0 ? 'nothing' : 'an empty text';
    return { ok: false, error: `question: expected some words, got ${came}` };
  }
  const root = values.get('root') ?? null;
  if (root === '') return { ok: false, error: '--root: expected a folder, got an empty text' };
  const delay = values.get('model-delay') ?? '0';
  const modelDelayMs = /^\d+$/.test(delay) ? Number(delay) : NaN;
  if (!(modelDelayMs <= LONGEST_DELAY)) {
    const expected = `a whole number of milliseconds from 0 to ${String(LONGEST_DELAY)}`;
    return { ok: false, error: `--model-delay: expected ${expected}, got ${shown(delay)}` };
  }
  return { ok: true, command: { kind: 'ask', question, root, json, modelDelayMs } };
}

const shown = (word: string): string => `"${safeLine(word, 80)}"`;
