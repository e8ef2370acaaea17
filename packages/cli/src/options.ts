import {
  baseUrl,
  count,
  filled,
  logLevel,
  mcpServer,
  milliseconds,
  modelName,
  port,
  seconds,
  type LogLevel,
  type McpServer,
} from './option-values.ts';

/** What the options say; times are in milliseconds, and `null` is for what was not given. */
export interface Options {
  readonly root: string | null;
  readonly json: boolean;
  /** `[provider:]model` each: the first answers, the others are asked in order when it fails. */
  readonly model: readonly string[];
  readonly baseUrl: string | null;
  readonly offline: boolean;
  readonly image: readonly string[];
  readonly noImages: boolean;
  readonly session: string | null;
  readonly resume: boolean;
  readonly noSession: boolean;
  readonly mcp: readonly McpServer[];
  readonly readOnly: boolean;
  readonly yes: boolean;
  readonly timeout: number | null;
  readonly idleTimeout: number | null;
  readonly toolTimeout: number | null;
  readonly maxSteps: number | null;
  readonly window: number | null;
  /** What the offline model waits between two pieces; for demonstrations and tests. */
  readonly modelDelay: number;
  readonly port: number | null;
  readonly tokenFile: string | null;
  readonly logLevel: LogLevel;
  readonly version: boolean;
  readonly help: boolean;
}

/** The name of an option in the code; {@link dashed} gives it as it is typed. */
export type OptionName = keyof Options;

/** What options are given to: a turn on the command line or at the prompt, or a sub-command. */
export type CommandName = 'turn' | 'log' | 'check' | 'tools' | 'serve';

/** One option. */
export interface Option<Value> {
  /** A letter that stands for it as well. */
  readonly alias?: string;
  /** Its value as the help names it, and what is said to be expected; `null` for a flag. */
  readonly value: { readonly name: string; readonly expected: string } | null;
  /** What it is when it was not given. */
  readonly usual: Value;
  /** Reads what was given, after what was given before. Throws a {@link Refusal}. */
  readonly read: (text: string, before: Value) => Value;
  readonly takenBy: readonly CommandName[];
  /** What the help says; an option without is not in there. */
  readonly help: string;
}

const flag = (takenBy: readonly CommandName[], help: string): Option<boolean> => ({
  value: null,
  usual: false,
  read: () => true,
  takenBy,
  help,
});

/** The last one that is given counts. */
const one = <Value>(
  name: string,
  expected: string,
  read: (text: string) => Value,
  takenBy: readonly CommandName[],
  help: string,
): Option<Value | null> => ({ value: { name, expected }, usual: null, read, takenBy, help });

/** All that are given count. */
const many = <Value>(
  name: string,
  expected: string,
  read: (text: string) => Value,
  takenBy: readonly CommandName[],
  help: string,
): Option<readonly Value[]> => ({
  value: { name, expected },
  usual: [],
  read: (text, before) => [...before, read(text)],
  takenBy,
  help,
});

const TURN: readonly CommandName[] = ['turn'];
const SERVE: readonly CommandName[] = ['serve'];
const TURNS: readonly CommandName[] = ['turn', 'serve'];
const TOOLS: readonly CommandName[] = ['turn', 'tools', 'serve'];
const SECONDS = 'a number of seconds';

/** All there is to know of each option, in the order of the help. */
export const OPTIONS: { readonly [Name in OptionName]: Option<Options[Name]> } = {
  root: one('DIR', 'a folder', filled('a folder'), TOOLS,
    'the folder of the agent (default: the current one)'),
  json: flag(['turn', 'log', 'tools'],
    'one server-sent-event frame a line, and nothing else, on stdout; pnpm prints a banner of its ' +
      'own unless it is --silent'),
  model: many('[PROVIDER:]MODEL', 'a model', modelName, TURNS,
    'who answers; PROVIDER is deepseek, openai, anthropic, google or local. Given again: who is ' +
      'asked when the one before fails'),
  baseUrl: one('URL', 'a URL', baseUrl, TURNS,
    'ask the OpenAI-compatible server there. The key sent to it is CELESTEA_API_KEY; without one, ' +
      'OPENAI_API_KEY when that is for this server: OPENAI_BASE_URL, or OpenAI\'s own where that ' +
      'is not set'),
  offline: flag(TURNS, 'the built-in offline model answers, also when a key is set'),
  image: many('FILE', 'a file', filled('a file'), TURN,
    'a PNG, JPEG, WebP or GIF picture that goes with the question; may be given several times'),
  noImages: flag(TURN, 'tell the model of the session\'s pictures in words, if it cannot see'),
  session: one('FILE', 'a file', filled('a file'), TURN,
    'keep the session in FILE, and continue what is there (default: a new file in ' +
      '.celestea/sessions of the folder)'),
  resume: flag(TURN,
    'continue the last session of the folder; with --session, FILE has to be there'),
  noSession: flag(TURN, 'keep nothing'),
  mcp: many('SERVER', 'a command or a URL', mcpServer, TOOLS,
    'offer the tools of an MCP server as well: "COMMAND ARG...", which is run without a shell, or ' +
      'a URL; may be given several times'),
  readOnly: flag(TOOLS, 'offer neither write_file nor run_command'),
  yes: flag(TURNS, 'allow every call that asks before it runs'),
  timeout: one('SECONDS', SECONDS, seconds, TURN, 'cancel the turn when it takes longer'),
  idleTimeout: one('SECONDS', SECONDS, seconds, TURNS,
    'give up on a reply when the model is silent for longer'),
  toolTimeout: one('SECONDS', SECONDS, seconds, TURNS,
    'give up on a call that takes longer; the turn goes on'),
  maxSteps: one('N', 'a number of steps', count, TURNS,
    'requests to the model in one turn (default: 16)'),
  window: one('TOKENS', 'a number of tokens', count, TURNS,
    'the context window that a request has to fit in'),
  modelDelay: {
    ...one('MILLISECONDS', 'a number of milliseconds', milliseconds, TURNS, ''),
    usual: 0,
    read: milliseconds,
  },
  port: one('N', 'a number', port, SERVE,
    'listen at 127.0.0.1:N; 0 is any that is free (default: 7717, or any that is free when it is ' +
      'taken)'),
  tokenFile: one('FILE', 'a file', filled('a file'), SERVE,
    'the token is in FILE, which is made when it is not there (default: that of CELESTEA_TOKEN, ' +
      'or a new one)'),
  logLevel: {
    value: { name: 'LEVEL', expected: 'a level' },
    usual: 'warn',
    read: logLevel,
    takenBy: SERVE,
    help: 'debug, info, warn or error, on stderr (default: warn)',
  },
  version: flag([], 'print the version'),
  help: { ...flag([], 'print this'), alias: 'h' },
};

/** The names of all options, in the order of the help. */
export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[];

/** The name of an option as it is typed, without the dashes in front of it. */
export const dashed = (name: OptionName): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
