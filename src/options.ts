import { describeValue } from '@celestea/core';

import type { EventSink } from './events.ts';
import type { UsageTracker } from './usage.ts';

/** What a host binds to a loop, for all its turns. */
export interface AgentLoopBindings {
  /** Cancels a running turn. It belongs to the caller; the loop only listens. */
  signal?: AbortSignal;
  /** Gets every event; without one they are dropped. */
  sink?: EventSink;
  /** Adds up what the responses cost; without one usage is dropped. */
  usage?: UsageTracker;
}

/** What a value has to be, in words and as a test. */
type Check = readonly [expected: string, fits: (value: unknown) => boolean];

const isFunction = (value: unknown): boolean => typeof value === 'function';

/** Own or inherited: a double may be a plain object, a real one is an instance. */
const hasMethods =
  (...names: string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => isFunction((value as Record<string, unknown>)[name]));

const isSignal = (value: unknown): boolean =>
  hasMethods('addEventListener', 'removeEventListener')(value) &&
  typeof (value as { aborted?: unknown }).aborted === 'boolean';

const BINDINGS: Record<keyof AgentLoopBindings, Check> = {
  signal: ['an AbortSignal', isSignal],
  sink: ['a function', isFunction],
  usage: ['a UsageTracker', hasMethods('record', 'latest', 'total')],
};

/** Throws a `TypeError` that names the option when a binding is not what it has to be. */
export function checkBindings(bindings: AgentLoopBindings): AgentLoopBindings {
  requireObject('bindings', bindings);
  for (const [name, check] of Object.entries(BINDINGS)) {
    checkOption(name, check, (bindings as Record<string, unknown>)[name]);
  }
  return bindings;
}

/** Throws a `TypeError` when an argument is no object. */
export function requireObject(name: string, value: unknown): void {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) throw new TypeError(`${name}: expected an object, got ${describeValue(value)}`);
}

function checkOption(name: string, [expected, fits]: Check, value: unknown): void {
  if (value === undefined || fits(value)) return;
  throw new TypeError(`${name}: expected ${expected}, got ${describeValue(value)}`);
}
