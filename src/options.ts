import {
  defaultAgentConfig,
  expectThat,
  isRecord,
  readImageRef,
  type AgentConfig,
  type AgentTurnOptions,
  type ImageRef,
  type InjectionSource,
  type Message,
  type ModelRequest,
  type Usage,
} from '@celestea/core';

import type { TrimResult } from './context-trim.ts';
import type { DiagnosticListener } from './diagnostics.ts';
import type { EventSink } from './events.ts';
import type { TurnTimeouts } from './timeouts.ts';
import type { UsageTracker } from './usage.ts';

/** What a {@link ContextPolicy} decides on. */
export interface ContextPolicyInput {
  /** The whole history, as the log gives it. */
  readonly messages: readonly Message[];
  /** Tokens of the system prompt, which is sent beside the messages. */
  readonly systemTokens: number;
  readonly config: Readonly<AgentConfig>;
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal;
}

/**
 * Chooses what of the history is sent, in place of `fitContext` (X7). What it throws ends
 * the turn with `error{generate}`.
 */
export type ContextPolicy = (input: ContextPolicyInput) => TrimResult | Promise<TrimResult>;

/** What a {@link PrepareStep} is told besides the request. */
export interface StepInfo {
  /** Counted from 0. */
  readonly step: number;
  /** What this turn's responses cost so far. */
  readonly usage: Usage;
}

/**
 * Changes one step's request after trimming: model, tools, limits, messages (X14). Nothing
 * returned leaves it as it is; what it throws ends the turn with `error{generate}`.
 */
export type PrepareStep = (
  request: ModelRequest,
  info: StepInfo,
) => PreparedStep | Promise<PreparedStep>;

/** The request to send, or nothing for the one that was handed in. */
// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a callback without a return is `void`
export type PreparedStep = ModelRequest | undefined | void;

/** What a host binds to a loop, for all its turns. Every field may be left out. */
export interface AgentLoopBindings {
  /** Cancels a running turn. It belongs to the caller; the loop only listens. */
  signal?: AbortSignal | undefined;
  /** Gets every event, synchronously; without one they are dropped. */
  sink?: EventSink | undefined;
  /** Adds up what the responses cost; without one usage is dropped. */
  usage?: UsageTracker | undefined;
  /** Messages that come in while a turn runs (X6). */
  injections?: InjectionSource | undefined;
  /** Decides what of the history is sent (X7); `fitContext` unless given. */
  contextPolicy?: ContextPolicy | undefined;
  /** Changes a step's request before it is sent (X14). */
  prepareStep?: PrepareStep | undefined;
  /** Limits on waiting, in milliseconds; none unless given (X13). */
  timeouts?: TurnTimeouts | undefined;
  /** Told of each fault that the turn goes on from (X15). */
  onDiagnostic?: DiagnosticListener | undefined;
}

/** Options of one turn: each replaces the binding of its name; of two signals either cancels (X1). */
export interface TurnOptions extends AgentLoopBindings, AgentTurnOptions {
  /** Pictures that go with the input. */
  attachments?: readonly ImageRef[] | undefined;
  sink?: EventSink | undefined;
}

/** Every key is there, so that the compiler asks for an option that is forgotten. */
type Settled<T> = { readonly [Key in keyof Required<T>]: T[Key] };

/** The options of one turn, put together. */
export interface ResolvedOptions
  extends Settled<Omit<TurnOptions, 'attachments' | 'signal' | 'sink'>> {
  readonly attachments: readonly ImageRef[];
  /** Any of them cancels. */
  readonly signals: readonly AbortSignal[];
  /** Each is told of every event. */
  readonly sinks: readonly EventSink[];
}

/** What a value has to be, in words and as a test. */
type Check = readonly [expected: string, fits: (value: unknown) => boolean];

const isFunction = (value: unknown): boolean => typeof value === 'function';

/** Own or inherited: a double may be a plain object, a real one is an instance. */
const hasMethods =
  (...names: string[]) =>
  (value: unknown): boolean =>
    isRecord(value) && names.every((name) => isFunction(value[name]));

const isSignal = (value: unknown): boolean =>
  hasMethods('addEventListener', 'removeEventListener')(value) &&
  typeof (value as { aborted?: unknown }).aborted === 'boolean';

const isDelay = (value: unknown): boolean => typeof value === 'number' && value >= 0;

const BINDINGS: Record<keyof AgentLoopBindings, Check> = {
  signal: ['an AbortSignal', isSignal],
  sink: ['a function', isFunction],
  usage: ['a UsageTracker', hasMethods('record', 'latest', 'total')],
  injections: ['an InjectionSource', hasMethods('drain')],
  contextPolicy: ['a function', isFunction],
  prepareStep: ['a function', isFunction],
  timeouts: ['an object', isRecord],
  onDiagnostic: ['a function', isFunction],
};

const TIMEOUTS: Record<keyof TurnTimeouts, Check> = {
  streamIdleMs: ['milliseconds, 0 or more', isDelay],
  toolMs: ['milliseconds, 0 or more', isDelay],
};

const ATTACHMENTS: Check = [
  'an array of image references',
  (value) => Array.isArray(value) && value.every((item) => readImageRef(item) !== null),
];

/** Throws a `TypeError` that names the option when a binding is not what it has to be. */
export function checkBindings(bindings: AgentLoopBindings): AgentLoopBindings {
  expectObject('bindings', bindings);
  checkAll('', BINDINGS, bindings);
  if (bindings.timeouts !== undefined) checkAll('timeouts.', TIMEOUTS, bindings.timeouts);
  return bindings;
}

/**
 * The options of one turn over the bindings of its loop; `sink` is the loop's own.
 * Throws a `TypeError` that names the option when one is not what it has to be.
 */
export function resolveOptions(
  bindings: AgentLoopBindings,
  turn: readonly ImageRef[] | TurnOptions | undefined,
  sink?: EventSink,
): ResolvedOptions {
  const options = asTurnOptions(turn);
  return {
    attachments: options.attachments ?? [],
    signals: [bindings.signal, options.signal].filter((one) => one !== undefined),
    sinks: [options.sink ?? bindings.sink, sink].filter((one) => one !== undefined),
    usage: options.usage ?? bindings.usage,
    injections: options.injections ?? bindings.injections,
    contextPolicy: options.contextPolicy ?? bindings.contextPolicy,
    prepareStep: options.prepareStep ?? bindings.prepareStep,
    timeouts: { ...(options.timeouts ?? bindings.timeouts) },
    onDiagnostic: options.onDiagnostic ?? bindings.onDiagnostic,
  };
}

function asTurnOptions(turn: readonly ImageRef[] | TurnOptions | undefined): TurnOptions {
  if (turn === undefined) return {};
  const options = isArray(turn) ? { attachments: turn } : turn;
  expectObject('turn options', options);
  checkBindings(options);
  checkOption('attachments', ATTACHMENTS, options.attachments);
  return options;
}

/** `Array.isArray` does not narrow a readonly array. */
const isArray = (value: readonly ImageRef[] | TurnOptions): value is readonly ImageRef[] =>
  Array.isArray(value);

/**
 * The configuration with its defaults filled in. Throws a `TypeError` for a field of a wrong
 * type; a number out of range is clamped where it is used (L4.4, L5.3).
 */
export function checkConfig(config: Partial<AgentConfig>): AgentConfig {
  expectObject('config', config);
  for (const [name, usual] of Object.entries(defaultAgentConfig())) {
    const fits = (value: unknown): boolean => typeof value === typeof usual;
    checkOption(`config.${name}`, [`a ${typeof usual}`, fits], config[name as keyof AgentConfig]);
  }
  return defaultAgentConfig(config);
}

function expectObject(name: string, value: unknown): void {
  expectThat(isRecord(value), name, 'an object', value);
}

/** Throws a `TypeError` when the input of a turn is neither text nor `null`. */
export function checkInput(userInput: unknown): void {
  const fits = userInput === null || typeof userInput === 'string';
  expectThat(fits, 'userInput', 'a string or null', userInput);
}

function checkAll(prefix: string, checks: Record<string, Check>, values: object): void {
  for (const [name, check] of Object.entries(checks)) {
    checkOption(prefix + name, check, (values as Record<string, unknown>)[name]);
  }
}

function checkOption(name: string, [expected, fits]: Check, value: unknown): void {
  expectThat(value === undefined || fits(value), name, expected, value);
}
