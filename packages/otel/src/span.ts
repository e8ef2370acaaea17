import {
  context,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context as TraceContext,
  type Span,
  type SpanOptions,
  type Tracer,
} from '@opentelemetry/api';

/**
 * Runs work that must disturb nobody: what it throws is dropped, and so is the rejection of a
 * promise that it gives where none was due.
 */
export function quietly<T>(work: () => T): T | undefined {
  try {
    const value = work();
    dropRejection(value);
    return value;
  } catch {
    return undefined;
  }
}

function dropRejection(value: unknown): void {
  try {
    if (value instanceof Promise) void Promise.prototype.then.call(value, undefined, ignore);
  } catch {
    // a Proxy with ideas of its own
  }
}

/** What a seam gave, as a promise that can be waited for twice; nothing where that throws. */
export function asPromise<T>(answer: PromiseLike<T> | T): Promise<Awaited<T>> | undefined {
  try {
    return Promise.resolve(answer);
  } catch {
    return undefined;
  }
}

const ignore = (): void => undefined;

/** The active context; the root one where it cannot be told. */
export function activeContext(): TraceContext {
  return quietly(() => context.active()) ?? ROOT_CONTEXT;
}

/**
 * Runs `work` with `active` as the active context, and exactly once, also where the context
 * manager throws.
 */
export function within<T>(active: TraceContext, work: () => T): T {
  const ran: { result?: () => T } = {};
  const run = (): unknown => {
    try {
      const value = work();
      ran.result = () => value;
    } catch (error) {
      ran.result = () => {
        throw error;
      };
    }
    return undefined;
  };
  quietly(() => context.with(active, run));
  return ran.result === undefined ? work() : ran.result();
}

/**
 * Waits beside whoever `promise` is for: neither its value nor its timing changes. The callbacks
 * must not throw.
 */
export function observe<T>(
  promise: Promise<T>,
  onValue: (value: T) => void,
  onError: (error: unknown) => void,
): void {
  quietly(() => {
    void promise.then(onValue, onError);
  });
}

/** A span that ends once and never throws, whatever tracer, processor or exporter is behind it. */
export class TraceSpan {
  /** The context that its children start in. */
  readonly context: TraceContext;
  readonly #span: Span | null;
  #isOpen: boolean;

  constructor(tracer: Tracer, name: string, options: SpanOptions, parent: TraceContext) {
    const span = quietly(() => tracer.startSpan(name, options, parent)) ?? null;
    this.#span = span;
    this.#isOpen = quietly(() => span?.isRecording()) === true;
    this.context = (span === null ? null : quietly(() => trace.setSpan(parent, span))) ?? parent;
  }

  /** Whether what is noted here gets anywhere. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  set(attributes: Attributes): void {
    if (this.#isOpen) quietly(() => this.#span?.setAttributes(attributes));
  }

  /** Gives it the error status; `message` may hold anything and is for captured content alone. */
  fail(message: string | undefined): void {
    const status = { code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) };
    if (this.#isOpen) quietly(() => this.#span?.setStatus(status));
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    quietly((): unknown => this.#span?.end());
  }
}
