import { modelProvider } from '@celestea/llm';
import type { McpCommand, McpUrl } from '@celestea/mcp';

import { misused, type Refusal } from './exit.ts';
import { quoted } from './text.ts';

/** A value that an option cannot have. */
const wrong = (expected: string, came: string): Refusal =>
  misused(`expected ${expected}, got ${came}`);

/** A server as the command line names it. */
export type McpServer = Pick<McpCommand, 'command' | 'args'> | McpUrl;

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** How much a host says of what it does, from all to the least. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A word as it was given, safe to show and bounded. */
export const shown = (word: string): string => quoted(word, 80);

/** A text that is not empty; `expected` is what it stands for. */
export const filled =
  (expected: string) =>
  (text: string): string => {
    if (text === '') throw wrong(expected, 'an empty text');
    return text;
  };

/** The longest delay that a timer can count, in milliseconds. */
const LONGEST_DELAY = 2 ** 31 - 1;
const LONGEST_SECONDS = Math.floor(LONGEST_DELAY / 1000);

/** Seconds, a fraction allowed, as milliseconds. */
export function seconds(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Math.round(Number(text) * 1000) : NaN;
  if (value >= 1 && value <= LONGEST_SECONDS * 1000) return value;
  const expected = `a number of seconds above 0, up to ${String(LONGEST_SECONDS)}`;
  throw wrong(expected, shown(text));
}

const whole =
  (least: number, most: number, expected: string) =>
  (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    throw wrong(expected, shown(text));
  };

/** A whole number, 1 or more. */
export const count: (text: string) => number = whole(
  1,
  Number.MAX_SAFE_INTEGER,
  'a whole number, 1 or more',
);

/** A whole number of milliseconds that a timer can count. */
export const milliseconds: (text: string) => number = whole(
  0,
  LONGEST_DELAY,
  `a whole number of milliseconds from 0 to ${String(LONGEST_DELAY)}`,
);

/** The number of a port; 0 is any that is free. */
export const port: (text: string) => number = whole(0, 65_535, 'a whole number from 0 to 65535');

/** The name of a level. */
export function logLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text);
  if (level !== undefined) return level;
  throw wrong(`one of ${LOG_LEVELS.join(', ')}`, shown(text));
}

/** The name of a model: it says something, and does not garble what shows it. */
export function modelName(text: string): string {
  if (text.trim() !== '' && !/\p{C}/u.test(text)) return text;
  throw wrong('the name of a model', text.trim() === '' ? 'an empty text' : shown(text));
}

/** Whether the server of `--base-url` is asked for a model, and not another provider. */
export function isServed(model: string): boolean {
  const provider = modelProvider(model);
  return provider === null || provider === 'local';
}

/** The URL of a server. One that is wrong is not shown: it may hold a secret, or be a key. */
export function baseUrl(text: string): string {
  const problem = urlProblem(text);
  if (problem === null) return text;
  throw wrong('an http or https URL without a query', problem);
}

function urlProblem(text: string): string | null {
  if (text.trim() === '') return 'an empty text';
  if (!/^\s*https?:\/\//i.test(text)) return 'a text that is no such URL';
  if (!URL.canParse(text)) return 'one that cannot be read';
  const { search, hash } = new URL(text);
  if (search !== '') return 'one with a query';
  return hash === '' ? null : 'one with a fragment';
}

/** A command with its arguments, or a URL; one that is wrong is not shown, as it may be a secret. */
export function mcpServer(text: string): McpServer {
  const expected = 'a command with its arguments, or an http or https URL';
  if (/^https?:/i.test(text)) {
    if (!/\s/.test(text) && URL.canParse(text)) return { url: text };
    throw wrong(expected, 'a URL that cannot be read');
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) throw wrong(expected, 'a URL of another kind');
  const words = splitWords(text);
  if (words === null) throw wrong(expected, `a quote or \\ without its end in ${shown(text)}`);
  const [command = '', ...args] = words;
  if (command === '') throw wrong(expected, shown(text));
  return { command, args };
}

/** A stretch between quotes, or a character after `\`, or plain characters, or blanks. */
const PIECE = /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+)|(\s+)/y;

/**
 * Splits a text into words as a shell does, and does nothing else that a shell does: `'…'` holds
 * everything as it is, `"…"` everything but `\"` and `\\`, and `\` takes what follows as it is.
 * `null` when a quote or a `\` stands without its end.
 */
export function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < text.length) {
    const piece = PIECE.exec(text);
    if (piece === null) return null;
    const [, single, double, escaped, plain, blanks] = piece;
    if (blanks === undefined) {
      const part = single ?? double?.replace(/\\(["\\])/g, '$1') ?? escaped ?? plain ?? '';
      word = (word ?? '') + part;
    } else if (word !== null) {
      words.push(word);
      word = null;
    }
  }
  if (word !== null) words.push(word);
  return words;
}
