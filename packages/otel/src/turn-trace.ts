import {
  outcomeErrorParts,
  outcomePhase,
  usageAdd,
  userMessage,
  zeroUsage,
  type Context,
  type TurnOutcome,
  type Usage,
} from '@celestea/core';
import { context, type Attributes, type Context as TraceContext } from '@opentelemetry/api';

import { withTurnWatch, type CallScope, type GiveUp } from './call-scope.ts';
import { inputMessages } from './content.ts';
import type { Tracing } from './options.ts';
import { quietly } from './quietly.ts';
import { usageAttributes } from './reply-notes.ts';
import { TraceSpan } from './span.ts';
import { thrownError } from './thrown-error.ts';

/** What is known of a turn before it runs. */
export interface TurnStart {
  readonly ctx: Context;
  readonly input: unknown;
  readonly model: string;
}

/** The spans of one turn: its own, those of its steps, and the calls that are open. */
export class TurnTrace implements CallScope {
  readonly tracing: Tracing;
  /** The context that the turn runs in. */
  readonly context: TraceContext;
  readonly #span: TraceSpan;
  readonly #open = new Set<GiveUp>();
  #step: TraceSpan | null = null;
  #steps = 0;
  #usage: Usage | null = null;
  #output: string | undefined;

  constructor(tracing: Tracing, start: TurnStart) {
    this.tracing = tracing;
    this.#span = new TraceSpan(tracing, {
      name: `invoke_agent ${tracing.agentName ?? ''}`.trimEnd(),
      attributes: () => turnAttributes(tracing, start),
      parent: context.active(),
    });
    this.context = withTurnWatch(this.#span.context, (signal, giveUp) =>
      this.watch(signal, giveUp),
    );
  }

  /** Whether anything of it is recorded. */
  get isOpen(): boolean {
    return this.#span.isOpen;
  }

  /** A step begins, and with it the one before is over. */
  startStep(): void {
    if (!this.isOpen) return;
    this.#endStep(false);
    const step = this.#steps;
    this.#step = new TraceSpan(this.tracing, {
      name: `step ${String(step)}`,
      attributes: () => ({ 'celestea.step': step }),
      parent: this.context,
    });
    this.#steps += 1;
  }

  parent(): TraceContext {
    return this.#step?.context ?? this.context;
  }

  watch(_signal: AbortSignal | undefined, giveUp: GiveUp): () => void {
    if (this.isOpen) this.#open.add(giveUp);
    return () => {
      this.#open.delete(giveUp);
    };
  }

  addUsage(usage: Usage): void {
    this.#usage = usageAdd(this.#usage ?? zeroUsage(), usage);
  }

  addOutput(messages: string): void {
    this.#output = messages;
  }

  /** The turn ended. */
  end(outcome: TurnOutcome): void {
    const error = outcomeErrorParts(outcome);
    this.#endStep(outcome === 'cancelled');
    if (error !== null) this.#span.fail(error.kind, error.message);
    this.#end(outcomePhase(outcome));
  }

  /** The turn rejected: it was misused, or a seam broke. */
  reject(error: unknown): void {
    const { errorType, message } = thrownError(error);
    this.#endStep(false);
    this.#span.fail(errorType, message);
    this.#end('error');
  }

  #end(outcome: string): void {
    this.#span.set({
      'celestea.outcome': outcome,
      ...usageAttributes(this.#usage),
      'celestea.steps': this.#steps,
      'gen_ai.output.messages': this.#output,
    });
    this.#span.end();
  }

  /** What is still open by then, nobody waits for any more. */
  #endStep(isCancelled: boolean): void {
    for (const giveUp of this.#open) giveUp(isCancelled);
    this.#open.clear();
    this.#step?.end();
    this.#step = null;
  }
}

function turnAttributes(tracing: Tracing, { ctx, input, model }: TurnStart): Attributes {
  const { agentName, providerName, contentBytes } = tracing;
  const attributes: Attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.request.model': model,
    'gen_ai.agent.name': agentName,
    'gen_ai.provider.name': providerName,
  };
  const conversation: unknown = quietly(() => conversationOf(tracing, ctx));
  if (typeof conversation === 'string') attributes['gen_ai.conversation.id'] = conversation;
  if (contentBytes !== null && typeof input === 'string') {
    attributes['gen_ai.input.messages'] = inputMessages([userMessage(input)], contentBytes);
  }
  return attributes;
}

function conversationOf({ conversationId }: Tracing, ctx: Context): unknown {
  return typeof conversationId === 'function' ? conversationId(ctx) : conversationId;
}
