import { expectThat, isRecord, type Context } from '@celestea/core';
import { trace, type Tracer } from '@opentelemetry/api';

/** How model calls and tool calls are traced. Every field may be left out. */
export interface CallTraceOptions {
  /** Makes the spans; a tracer of the registered provider unless given. */
  tracer?: Tracer | undefined;
  /**
   * Whether spans carry what was said: messages, instructions, arguments, results and the
   * messages of errors. Off unless given: any of them can hold what is nobody else's business.
   */
  captureContent?: boolean | undefined;
  /** UTF-8 bytes that one attribute of content may have, at least 256; 64 KiB unless given. */
  contentBytes?: number | undefined;
  /** Whose model it is, in the conventions' words: `openai`, `anthropic`, `gcp.gemini`, …. */
  providerName?: string | undefined;
}

/** How turns are traced. Every field may be left out. */
export interface TraceOptions extends CallTraceOptions {
  /** What people call the agent. */
  agentName?: string | undefined;
  /** What the conversation is known by, or what finds it for the scope of a turn. */
  conversationId?: string | ((ctx: Context) => string | undefined) | undefined;
}

/** The options, checked. */
export interface Tracing {
  readonly tracer: () => Tracer;
  /** Bytes an attribute of content may have; `null` when none is captured. */
  readonly contentBytes: number | null;
  readonly providerName: string | undefined;
  readonly agentName: string | undefined;
  readonly conversationId: TraceOptions['conversationId'];
}

/** The instrumentation scope of every span. */
const SCOPE_NAME = '@celestea/otel';
const DEFAULT_CONTENT_BYTES = 64 * 1024;
/** A notice and the shape around it have to fit. */
const MIN_CONTENT_BYTES = 256;

const isNothingOr = (type: string, value: unknown): boolean =>
  value === undefined || typeof value === type;

/** Throws a `TypeError` that names the option that is not what it has to be. */
export function readOptions(options: TraceOptions): Tracing {
  const given: unknown = options;
  expectThat(isRecord(given), 'options', 'an object', given);
  const { tracer, captureContent, providerName, agentName, conversationId } = options;
  const { contentBytes = DEFAULT_CONTENT_BYTES } = options;
  expectThat(tracer === undefined || isTracer(tracer), 'tracer', 'a Tracer', tracer);
  expectThat(isNothingOr('boolean', captureContent), 'captureContent', 'a boolean', captureContent);
  const isSize = Number.isSafeInteger(contentBytes) && contentBytes >= MIN_CONTENT_BYTES;
  expectThat(isSize, 'contentBytes', `bytes, ${String(MIN_CONTENT_BYTES)} or more`, contentBytes);
  expectThat(isNothingOr('string', providerName), 'providerName', 'a text', providerName);
  expectThat(isNothingOr('string', agentName), 'agentName', 'a text', agentName);
  const isId = isNothingOr('string', conversationId) || typeof conversationId === 'function';
  expectThat(isId, 'conversationId', 'a text or a function', conversationId);
  return {
    // asked anew, so that a provider may be registered, and replaced, at any time
    tracer: () => tracer ?? trace.getTracer(SCOPE_NAME),
    contentBytes: captureContent === true ? contentBytes : null,
    providerName,
    agentName,
    conversationId,
  };
}

function isTracer(value: unknown): boolean {
  return isRecord(value) && typeof value['startSpan'] === 'function';
}
