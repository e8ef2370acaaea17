import { SpanStatusCode, type Tracer } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  type ReadableSpan,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { expect } from 'vitest';

/** A tracer with what came of its spans. */
export interface Recorder {
  readonly tracer: Tracer;
  /** The spans that ended, in the order they ended. */
  readonly ended: () => readonly ReadableSpan[];
  /** The one span of this name. */
  readonly span: (name: string) => ReadableSpan;
  /** The names of the spans, as a tree, in the order they started. */
  readonly tree: () => string[];
  /** Fails unless each span that started has ended, and ended once. */
  readonly expectAllEnded: () => void;
}

/** It asks nothing of the context API and sets no timer, unlike the SDK's exporter in memory. */
export function recorder(): Recorder {
  const started: string[] = [];
  const ended: ReadableSpan[] = [];
  const idOf = (span: Pick<ReadableSpan, 'spanContext'>): string => span.spanContext().spanId;
  const processor: SpanProcessor = {
    onStart: (span) => {
      started.push(idOf(span));
    },
    onEnd: (span) => {
      ended.push(span);
    },
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  const branch = (parent: string | undefined, depth: number): string[] =>
    ended
      .filter((span) => span.parentSpanContext?.spanId === parent)
      .sort((a, b) => started.indexOf(idOf(a)) - started.indexOf(idOf(b)))
      .flatMap((span) => ['  '.repeat(depth) + span.name, ...branch(idOf(span), depth + 1)]);
  return {
    tracer: new BasicTracerProvider({ spanProcessors: [processor] }).getTracer('test'),
    ended: () => ended,
    span: (name) => {
      const [found, ...others] = ended.filter((span) => span.name === name);
      if (found === undefined || others.length > 0) {
        throw new Error(`not one span ${name}, but ${branch(undefined, 0).join(', ')}`);
      }
      return found;
    },
    tree: () => branch(undefined, 0),
    expectAllEnded: () => {
      expect(ended.map(idOf).sort()).toEqual([...started].sort());
    },
  };
}

/** What tells how a span ended. */
export function endOf(span: ReadableSpan | undefined): Record<string, unknown> {
  return {
    outcome: span?.attributes['celestea.outcome'],
    errorType: span?.attributes['error.type'],
    isError: span?.status.code === SpanStatusCode.ERROR,
  };
}

/** The end of a span without an error. */
export const fine = (outcome: string): unknown => ({ outcome, errorType: undefined, isError: false });

/** The end of a span with an error. */
export const faulty = (outcome: string, errorType: string): unknown => ({
  outcome,
  errorType,
  isError: true,
});
