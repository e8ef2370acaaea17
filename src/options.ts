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

/** Throws a `TypeError` that names the option when a binding is not what it has to be. */
export function checkBindings(bindings: AgentLoopBindings): AgentLoopBindings {
  requireOption('bindings', 'an object', isObject(bindings), bindings);
  const { signal, sink, usage } = bindings;
  const isFunction = (value: unknown): boolean => typeof value === 'function';
  const isSignal = isObject(signal) && 'aborted' in signal && 'addEventListener' in signal;
  requireOption('signal', 'an AbortSignal', signal === undefined || isSignal, signal);
  requireOption('sink', 'a function', sink === undefined || isFunction(sink), sink);
  const isTracker = isObject(usage) && 'record' in usage;
  requireOption('usage', 'a UsageTracker', usage === undefined || isTracker, usage);
  return bindings;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function requireOption(name: string, expected: string, fits: boolean, came: unknown): void {
  if (!fits) throw new TypeError(`${name}: expected ${expected}, got ${describeValue(came)}`);
}
