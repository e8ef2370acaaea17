import type { Attributes, SpanKind } from '@opentelemetry/api';

import type { CallScope } from './call-scope.ts';
import { boundedText } from './content-text.ts';
import { errorType } from './error-type.ts';
import { ATTR_ERROR_TYPE } from './names.ts';
import { ATTR_OUTCOME } from './own-names.ts';
import { quietly, TraceSpan, within } from './span.ts';

/** How a call ended. */
export type CallEnd =
  | { readonly outcome: 'completed' | 'interrupted' | 'cancelled' | 'abandoned' }
  | {
      readonly outcome: 'error' | 'denied';
      readonly errorType: string;
      /** Why, in words; kept where content is captured. */
      readonly message?: string | undefined;
    };

/** What a call is made of. */
export interface CallParts {
  readonly scope: CallScope;
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  readonly signal: AbortSignal | undefined;
  /** How it ends when its turn is cancelled. */
  readonly cancelled: 'cancelled' | 'abandoned';
  /** What is known of it, asked once, when it ends. */
  readonly known: () => Attributes;
}

/** A call into a seam and its span, which ends once, on every path. */
export class TracedCall {
  readonly #parts: CallParts;
  readonly #span: TraceSpan;
  #release: () => void = () => undefined;

  constructor(parts: CallParts) {
    const { scope, name, kind, attributes, signal } = parts;
    this.#parts = parts;
    const tracer = scope.tracing.tracer();
    this.#span = new TraceSpan(tracer, name, { kind, attributes }, scope.parent());
    if (!this.#span.isOpen) return;
    const release = quietly(() => scope.watch(signal, this.#giveUp));
    if (release !== undefined) this.#release = release;
  }

  /** Whether anything can still be noted. */
  get isOpen(): boolean {
    return this.#span.isOpen;
  }

  /** Runs work in the context of the call; what it throws ends the call. */
  run<T>(work: () => T): T {
    try {
      return within(this.#span.context, work);
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** What was thrown ends it. */
  fail(error: unknown): void {
    if (!this.isOpen) return;
    const message = quietly(() => (error instanceof Error ? error.message : String(error)));
    this.end({ outcome: 'error', errorType: errorType(error), message });
  }

  /**
   * Ends it. Once its signal has aborted nobody waits for what it says, so that how it ends is
   * left to who gives it up.
   */
  end(end: CallEnd): void {
    if (!this.#isAborted()) this.#finish(end);
  }

  readonly #giveUp = (isCancelled: boolean): void => {
    if (isCancelled) this.#finish({ outcome: this.#parts.cancelled });
    else if (this.#isAborted()) this.#finish({ outcome: 'error', errorType: 'timeout' });
    else this.#finish({ outcome: 'abandoned' });
  };

  #isAborted(): boolean {
    return quietly(() => this.#parts.signal?.aborted) === true;
  }

  #finish(end: CallEnd): void {
    if (!this.isOpen) return;
    this.#release();
    this.#span.set({ ...quietly(this.#parts.known), [ATTR_OUTCOME]: end.outcome });
    if (end.outcome === 'error' || end.outcome === 'denied') {
      this.#span.set({ [ATTR_ERROR_TYPE]: end.errorType });
      this.#span.fail(this.#shownMessage(end.message));
    }
    this.#span.end();
  }

  #shownMessage(message: string | undefined): string | undefined {
    const { contentBytes } = this.#parts.scope.tracing;
    if (contentBytes === null || message === undefined) return undefined;
    return boundedText(message, contentBytes);
  }
}
