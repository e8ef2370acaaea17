import type { Usage } from '@celestea/core';
import { context, createContextKey, type Context as TraceContext } from '@opentelemetry/api';

import type { Tracing } from './options.ts';

/** Ends the span of a call that nobody waits for any more. */
export type GiveUp = (isCancelled: boolean) => void;

/** Where the calls of a model and of tools belong. */
export interface CallScope {
  readonly tracing: Tracing;
  /** What a call that starts is a child of. */
  parent(): TraceContext;
  /** Sees to it that a call is given up in the end; what is given back calls that off. */
  watch(signal: AbortSignal | undefined, giveUp: GiveUp): () => void;
  /** Told what a response cost. */
  addUsage(usage: Usage): void;
  /** Told the content of a reply, where content is captured. */
  addOutput(messages: string): void;
}

type Watch = CallScope['watch'];

const TURN_WATCH = createContextKey('celestea.otel.turn-watch');

/** A context in which the calls that are made of themselves are also given up by a turn. */
export function withTurnWatch(parent: TraceContext, watch: Watch): TraceContext {
  return parent.setValue(TURN_WATCH, watch);
}

const ignore = (): void => undefined;

/**
 * Calls that no traced loop makes: children of what is active. They are given up when their
 * signal aborts, and inside a tool of a traced turn when the step of that tool is over.
 */
export function looseScope(tracing: Tracing): CallScope {
  const parent = (): TraceContext => context.active();
  return { tracing, parent, watch: watchLoose, addUsage: ignore, addOutput: ignore };
}

function watchLoose(signal: AbortSignal | undefined, giveUp: GiveUp): () => void {
  const watchOfTurn = context.active().getValue(TURN_WATCH) as Watch | undefined;
  const release = watchOfTurn?.(signal, giveUp);
  const onAbort = (): void => {
    giveUp(true);
  };
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return () => {
    release?.();
    signal?.removeEventListener('abort', onAbort);
  };
}
