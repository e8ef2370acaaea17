import {
  LLM_SERVICE,
  outcomeErrorParts,
  outcomePhase,
  TOOL_REGISTRY_SERVICE,
  usageAdd,
  userMessage,
  zeroUsage,
  type Context,
  type TurnOutcome,
  type Usage,
} from '@celestea/core';
import { SpanKind, type Attributes, type Context as TraceContext } from '@opentelemetry/api';

import { withTurnWatch, type CallScope, type GiveUp } from './call-scope.ts';
import { inputMessages } from './content.ts';
import { boundedText } from './content-text.ts';
import { errorType } from './error-type.ts';
import {
  ATTR_ERROR_TYPE,
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_GEN_AI_CONVERSATION_ID,
  ATTR_GEN_AI_INPUT_MESSAGES,
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_OUTPUT_MESSAGES,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_MODEL,
  GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT,
} from './names.ts';
import type { Tracing } from './options.ts';
import { ATTR_OUTCOME, ATTR_STEP, ATTR_STEPS } from './own-names.ts';
import { activeContext, quietly, TraceSpan } from './span.ts';
import { llmOfTurn, toolsOfTurn } from './traced-seams.ts';
import { usageAttributes } from './usage-attributes.ts';

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
  #output: string | null = null;

  constructor(tracing: Tracing, start: TurnStart) {
    this.tracing = tracing;
    const words = ['invoke_agent', tracing.agentName ?? ''];
    const name = words.filter((word) => word !== '').join(' ');
    const attributes = quietly(() => turnAttributes(tracing, start)) ?? {};
    const options = { kind: SpanKind.INTERNAL, attributes };
    this.#span = new TraceSpan(tracing.tracer(), name, options, activeContext());
    this.context = withTurnWatch(this.#span.context, (signal, giveUp) =>
      this.watch(signal, giveUp),
    );
  }

  /** The scope with its model and its tools traced; the same one where nothing is recorded. */
  scopeOf(ctx: Context): Context {
    if (!this.#span.isOpen) return ctx;
    return quietly(() => tracedScope(ctx, this)) ?? ctx;
  }

  /** A step begins, and with it the one before is over. */
  startStep(): void {
    if (!this.#span.isOpen) return;
    this.#endStep(false);
    const attributes = { [ATTR_STEP]: this.#steps };
    const options = { kind: SpanKind.INTERNAL, attributes };
    const name = `step ${String(this.#steps)}`;
    this.#step = new TraceSpan(this.tracing.tracer(), name, options, this.context);
    this.#steps += 1;
  }

  parent(): TraceContext {
    return this.#step?.context ?? this.context;
  }

  watch(_signal: AbortSignal | undefined, giveUp: GiveUp): () => void {
    if (this.#span.isOpen) this.#open.add(giveUp);
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
    if (error !== null) this.#fail(error.kind, error.message);
    this.#end({ [ATTR_OUTCOME]: outcomePhase(outcome) });
  }

  /** The turn rejected: it was misused, or a seam broke. */
  reject(error: unknown): void {
    this.#endStep(false);
    this.#fail(
      errorType(error),
      quietly(() => (error instanceof Error ? error.message : String(error))),
    );
    this.#end({ [ATTR_OUTCOME]: 'error' });
  }

  #fail(type: string, message: string | undefined): void {
    const { contentBytes } = this.tracing;
    this.#span.set({ [ATTR_ERROR_TYPE]: type });
    const isShown = contentBytes !== null && message !== undefined;
    this.#span.fail(isShown ? boundedText(message, contentBytes) : undefined);
  }

  #end(attributes: Attributes): void {
    this.#span.set({
      ...attributes,
      ...usageAttributes(this.#usage),
      [ATTR_STEPS]: this.#steps,
      ...(this.#output === null ? {} : { [ATTR_GEN_AI_OUTPUT_MESSAGES]: this.#output }),
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
    [ATTR_GEN_AI_OPERATION_NAME]: GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT,
    [ATTR_GEN_AI_REQUEST_MODEL]: model,
  };
  if (agentName !== undefined) attributes[ATTR_GEN_AI_AGENT_NAME] = agentName;
  if (providerName !== undefined) attributes[ATTR_GEN_AI_PROVIDER_NAME] = providerName;
  const conversation = quietly(() => conversationOf(tracing, ctx));
  if (typeof conversation === 'string') attributes[ATTR_GEN_AI_CONVERSATION_ID] = conversation;
  if (contentBytes !== null && typeof input === 'string') {
    attributes[ATTR_GEN_AI_INPUT_MESSAGES] = inputMessages([userMessage(input)], contentBytes);
  }
  return attributes;
}

function conversationOf({ conversationId }: Tracing, ctx: Context): unknown {
  return typeof conversationId === 'function' ? conversationId(ctx) : conversationId;
}

/** What is missing or is no object stays as it is, for the loop to refuse. */
function tracedScope(ctx: Context, trace: TurnTrace): Context {
  const scope = ctx.scoped();
  const llm: unknown = ctx.get(LLM_SERVICE);
  const tools: unknown = ctx.get(TOOL_REGISTRY_SERVICE);
  scope.provide(LLM_SERVICE, llmOfTurn(llm, trace));
  scope.provide(TOOL_REGISTRY_SERVICE, toolsOfTurn(tools, trace));
  return scope;
}
