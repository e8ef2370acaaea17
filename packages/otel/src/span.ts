import {
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context as TraceContext,
  type Span,
} from '@opentelemetry/api';

import { boundedText } from './content-text.ts';
import type { Tracing } from './options.ts';
import { quietly } from './quietly.ts';

/** What a span starts with. */
export interface SpanStart {
  readonly name: string;
  readonly kind?: SpanKind;
  /** Asked once; none where it throws. */
  readonly attributes: () => Attributes;
  readonly parent: TraceContext;
}

/** A span that ends once and never throws, whatever tracer, processor or exporter is behind it. */
export class TraceSpan {
  /** The context that its children start in. */
  readonly context: TraceContext;
  readonly #tracing: Tracing;
  readonly #span: Span | null;
  #isOpen: boolean;

  constructor(tracing: Tracing, start: SpanStart) {
    const { name, kind = SpanKind.INTERNAL, parent } = start;
    const options = { kind, attributes: quietly(start.attributes) ?? {} };
    const span = quietly(() => tracing.tracer().startSpan(name, options, parent)) ?? null;
    this.#tracing = tracing;
    this.#span = span;
    this.#isOpen = quietly(() => span?.isRecording()) === true;
    this.context = span === null ? parent : trace.setSpan(parent, span);
  }

  /** Whether what is noted here gets anywhere. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  set(attributes: Attributes): void {
    if (this.#isOpen) quietly(() => this.#span?.setAttributes(attributes));
  }

  /** Gives it an error; `message` may hold anything and is told where content is captured. */
  fail(errorType: string, message: string | undefined): void {
    const { contentBytes } = this.#tracing;
    this.set({ 'error.type': errorType });
    const isShown = contentBytes !== null && message !== undefined;
    const words = isShown ? { message: boundedText(message, contentBytes) } : {};
    const status = { code: SpanStatusCode.ERROR, ...words };
    if (this.#isOpen) quietly(() => this.#span?.setStatus(status));
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    quietly((): unknown => this.#span?.end());
  }
}
