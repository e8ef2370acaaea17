import { context, type Attributes, type SpanKind } from '@opentelemetry/api';

import type { CallScope } from './call-scope.ts';
import { quietly } from './quietly.ts';
import { TraceSpan } from './span.ts';
import { thrownError } from './thrown-error.ts';

/** How a call ended; why, in words, is told where content is captured. */
export type CallEnd =
  | { readonly outcome: 'completed' | 'interrupted' | 'cancelled' | 'abandoned' }
  | {
      readonly outcome: 'error' | 'denied';
      readonly errorType: string;
      readonly message?: string | undefined;
    };

/** What came of a call is nothing that the contract knows. */
export const MALFORMED: { readonly outcome: 'error'; readonly errorType: string } = {
  outcome: 'error',
  errorType: 'malformed',
};

/** What a call is made of. */
export interface CallParts {
  readonly scope: CallScope;
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: () => Attributes;
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
  #release: (() => void) | undefined;

  constructor(parts: CallParts) {
    const { scope, signal } = parts;
    this.#parts = parts;
    this.#span = new TraceSpan(scope.tracing, { ...parts, parent: scope.parent() });
    if (this.#span.isOpen) this.#release = scope.watch(signal, this.#giveUp);
  }

  /** Whether anything can still be noted. */
  get isOpen(): boolean {
    return this.#span.isOpen;
  }

  /** Runs work in the context of the call; what it throws ends the call. */
  run<T>(work: () => T): T {
    try {
      return context.with(this.#span.context, work);
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** What was thrown ends it. */
  fail(error: unknown): void {
    if (this.isOpen) this.end({ outcome: 'error', ...thrownError(error) });
  }

  /**
   * Ends it. Once its signal has aborted nobody waits for what it says, so that how it ends is
   * left to who gives it up.
   */
  end(end: CallEnd): void {
    if (this.#parts.signal?.aborted !== true) this.#finish(end);
  }

  readonly #giveUp = (isCancelled: boolean): void => {
    if (isCancelled) this.#finish({ outcome: this.#parts.cancelled });
    else if (this.#parts.signal?.aborted !== true) this.#finish({ outcome: 'abandoned' });
    else this.#finish({ outcome: 'error', errorType: 'timeout' });
  };

  #finish(end: CallEnd): void {
    if (!this.isOpen) return;
    this.#release?.();
    this.#span.set({ ...quietly(this.#parts.known), 'celestea.outcome': end.outcome });
    if ('errorType' in end) this.#span.fail(end.errorType, end.message);
    this.#span.end();
  }
}
