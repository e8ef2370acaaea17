import type { Usage } from '@celestea/core';
import { createContextKey, type Context as TraceContext } from '@opentelemetry/api';

import type { Tracing } from './options.ts';
import { activeContext, quietly } from './span.ts';

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
  return quietly(() => parent.setValue(TURN_WATCH, watch)) ?? parent;
}

const ignore = (): void => undefined;

/**
 * Calls that no traced loop makes: children of what is active. They are given up when their
 * signal aborts, and inside a tool of a traced turn when the step of that tool is over.
 */
export function looseScope(tracing: Tracing): CallScope {
  return { tracing, parent: activeContext, watch: watchLoose, addUsage: ignore, addOutput: ignore };
}

function watchLoose(signal: AbortSignal | undefined, giveUp: GiveUp): () => void {
  const watchOfTurn = quietly(() => activeContext().getValue(TURN_WATCH)) as Watch | undefined;
  const releases = [watchOfTurn?.(signal, giveUp), onAbort(signal, giveUp)];
  return () => {
    for (const release of releases) release?.();
  };
}

function onAbort(signal: AbortSignal | undefined, giveUp: GiveUp): () => void {
  if (signal === undefined) return ignore;
  const listener = (): void => {
    giveUp(true);
  };
  if (signal.aborted) listener();
  else quietly(() => { signal.addEventListener('abort', listener, { once: true }); });
  return () => {
    quietly(() => { signal.removeEventListener('abort', listener); });
  };
}
