import { readCount, readMilliseconds, readSeconds, type TurnLimits } from './limits.ts';
import { readModelSettings, type ModelSettings } from './model-settings.ts';
import { numberOf, readTokens, type Given, type OptionName } from './options.ts';
import { readServeSettings, SERVE_ALONE, type ServeSettings } from './serve-settings.ts';
import { readSessionChoice, type SessionChoice } from './session-choice.ts';
import { readToolSettings, type ToolSettings } from './tool-settings.ts';

/** How turns are run, whoever asks. */
export interface TurnSettings {
  /** As it was given; `null` for the current folder. */
  readonly root: string | null;
  readonly session: SessionChoice;
  readonly model: ModelSettings;
  readonly tools: ToolSettings;
  /** Milliseconds the offline model waits between two pieces; for demonstrations and tests. */
  readonly modelDelayMs: number;
  readonly limits: TurnLimits;
}

/** Runs one turn. */
export interface AskCommand extends TurnSettings {
  readonly kind: 'ask';
  readonly question: string;
  /** Files with the pictures that go with it, as they were given. */
  readonly images: readonly string[];
  /** Frames instead of text. */
  readonly json: boolean;
}

/** No question: opens the prompt where there is a terminal. */
export interface PromptCommand extends TurnSettings {
  readonly kind: 'prompt';
  /** Whether not even an option was given. */
  readonly bare: boolean;
}

/** Prints a session. */
export interface LogCommand {
  readonly kind: 'log';
  readonly file: string;
  /** The rows instead of text. */
  readonly json: boolean;
}

/** Says what is wrong with a session. */
export interface CheckCommand {
  readonly kind: 'check';
  readonly file: string;
}

/** Lists what the model is offered. */
export interface ToolsCommand {
  readonly kind: 'tools';
  /** As it was given; `null` for the current folder. */
  readonly root: string | null;
  readonly tools: ToolSettings;
  /** The specs instead of text. */
  readonly json: boolean;
}

/** Opens a host for a page, a script or another program. */
export interface ServeCommand extends Omit<TurnSettings, 'session'> {
  readonly kind: 'serve';
  readonly serve: ServeSettings;
}

/** What a command line asks for. A sub-command is a new member. */
export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | AskCommand
  | PromptCommand
  | LogCommand
  | CheckCommand
  | ToolsCommand
  | ServeCommand;

/** A command, or what is wrong with the command line: what was expected and what came. */
export type ParsedArgs =
  | { readonly ok: true; readonly command: Command }
  | { readonly ok: false; readonly error: string };

/**
 * Reads the words after the command's name; never throws. Options may stand anywhere before
 * `--`, the last of a kind counts, and asking for help wins over any mistake beside it. `log`
 * and `check` with one word more, and `tools` and `serve` alone, are sub-commands; all else that
 * they begin is a question.
 */
export function parseCommand(argv: readonly string[]): ParsedArgs {
  const given = readTokens(argv);
  if (given.flags.has('help')) return { ok: true, command: { kind: 'help' } };
  const settings = readSettings(given);
  const serve = readServeSettings(given);
  const [error] = given.errors;
  if (error !== undefined) return { ok: false, error };
  if (given.flags.has('version')) return { ok: true, command: { kind: 'version' } };
  if (isAlone(given, 'serve')) return serveCommand(given, settings, serve);
  const served = SERVE_ALONE.find((name) => given.values.has(name));
  if (served !== undefined) {
    return { ok: false, error: `--${served}: expected celestea serve, got another command` };
  }
  return commandOf(given, settings);
}

/** Notes what is wrong with the values among the errors. */
function readSettings(given: Given): TurnSettings {
  const root = given.values.get('root') ?? null;
  if (root === '') given.errors.push('--root: expected a folder, got an empty text');
  if (given.lists.get('image')?.includes('') === true) {
    given.errors.push('--image: expected a file, got an empty text');
  }
  return {
    root,
    session: readSessionChoice(given),
    model: readModelSettings(given),
    tools: readToolSettings(given),
    modelDelayMs: numberOf(given, 'model-delay', readMilliseconds) ?? 0,
    limits: {
      timeoutMs: numberOf(given, 'timeout', readSeconds),
      idleTimeoutMs: numberOf(given, 'idle-timeout', readSeconds),
      toolTimeoutMs: numberOf(given, 'tool-timeout', readSeconds),
      maxSteps: numberOf(given, 'max-steps', readCount),
      windowTokens: numberOf(given, 'window', readCount),
    },
  };
}

/** Whether the word is all there is beside options. */
const isAlone = ({ words, isEscaped }: Given, word: string): boolean =>
  words.length === 1 && words[0] === word && !isEscaped;

function commandOf(given: Given, settings: TurnSettings): ParsedArgs {
  const { flags, values, lists, words } = given;
  const [first, file] = words;
  if ((first === 'log' || first === 'check') && file !== undefined && words.length === 2) {
    if (!given.isEscaped) return fileCommand(first, file, given);
  }
  if (isAlone(given, 'tools')) return toolsCommand(given, settings);
  const question = words.join(' ').trim();
  const json = flags.has('json');
  const images = lists.get('image') ?? [];
  if (question !== '') {
    return { ok: true, command: { kind: 'ask', question, images, json, ...settings } };
  }
  if (words.length === 0 && !json) {
    if (images.length > 0) {
      return { ok: false, error: '--image: expected a question with it, got nothing' };
    }
    const bare = values.size === 0 && flags.size === 0;
    return { ok: true, command: { kind: 'prompt', bare, ...settings } };
  }
  const came = words.length === 0 ? 'nothing' : 'an empty text';
  return { ok: false, error: `question: expected some words, got ${came}` };
}

/** A sub-command takes no option that it would have to ignore. */
function fileCommand(kind: 'log' | 'check', file: string, { flags, values }: Given): ParsedArgs {
  if (file === '') return { ok: false, error: `${kind}: expected a file, got an empty text` };
  const taken: readonly OptionName[] = kind === 'log' ? ['json'] : [];
  const other = [...flags, ...values.keys()].find((name) => !taken.includes(name));
  if (other !== undefined) {
    const expected = kind === 'log' ? 'no option but --json' : 'no option';
    return { ok: false, error: `celestea ${kind} FILE: expected ${expected}, got --${other}` };
  }
  if (kind === 'check') return { ok: true, command: { kind, file } };
  return { ok: true, command: { kind, file, json: flags.has('json') } };
}

const TOOLS_TAKES: readonly OptionName[] = ['root', 'mcp', 'read-only', 'json'];

function toolsCommand({ flags, values }: Given, { root, tools }: TurnSettings): ParsedArgs {
  const other = [...flags, ...values.keys()].find((name) => !TOOLS_TAKES.includes(name));
  if (other !== undefined) {
    const taken = TOOLS_TAKES.map((name) => `--${name}`).join(', ');
    return { ok: false, error: `celestea tools: expected no option but ${taken}, got --${other}` };
  }
  return { ok: true, command: { kind: 'tools', root, tools, json: flags.has('json') } };
}

const SERVE_TAKES: readonly OptionName[] = [
  ...SERVE_ALONE,
  'root',
  'model',
  'base-url',
  'offline',
  'mcp',
  'read-only',
  'yes',
  'idle-timeout',
  'tool-timeout',
  'max-steps',
  'window',
  'model-delay',
];

function serveCommand(
  { flags, values }: Given,
  { root, model, tools, modelDelayMs, limits }: TurnSettings,
  serve: ServeSettings,
): ParsedArgs {
  const other = [...flags, ...values.keys()].find((name) => !SERVE_TAKES.includes(name));
  if (other !== undefined) {
    return { ok: false, error: `celestea serve: expected an option of its own, got --${other}` };
  }
  return { ok: true, command: { kind: 'serve', root, model, tools, modelDelayMs, limits, serve } };
}
