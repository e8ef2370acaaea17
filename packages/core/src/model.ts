import type { Message } from './message.ts';
import type { ToolSpec } from './tool.ts';
import type { Usage } from './usage.ts';

/** One request to a model. `null` leaves a setting to the provider. */
export interface ModelRequest {
  model: string;
  system: string | null;
  messages: Message[];
  tools: ToolSpec[];
  max_tokens: number | null;
  temperature: number | null;
}

/** Where a model failed: before there was a stream, or in it. */
export type ModelFailureKind = 'generate' | 'stream';

/** Why a model stopped (X8). Whether there are calls is said by the calls, not by this. */
export type FinishReason =
  'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal' | 'other';

/** Every {@link FinishReason}. */
export const FINISH_REASONS: readonly FinishReason[] = [
  'stop',
  'tool_calls',
  'length',
  'content_filter',
  'refusal',
  'other',
];

/**
 * What a model's stream brings. `done`, `failed` and `interrupted` are terminal: a
 * well-behaved provider sends exactly one, and may still send `thinking` and `usage` after
 * a `done`. `meta` is what the provider wants back verbatim (X10).
 */
export type StreamEvent =
  | { kind: 'text'; text: string }
  | { kind: 'thinking'; text: string; meta?: unknown }
  | { kind: 'usage'; usage: Usage }
  | { kind: 'done'; message: Message; finish?: FinishReason }
  | { kind: 'failed'; kindOf: ModelFailureKind; message: string }
  | { kind: 'interrupted' };

/** Every kind of {@link StreamEvent}. */
export const STREAM_EVENT_KINDS: readonly StreamEvent['kind'][] = [
  'text',
  'thinking',
  'usage',
  'done',
  'failed',
  'interrupted',
];

/** Whether this event ends the reply. */
export function isTerminalStreamEvent(event: StreamEvent): boolean {
  return event.kind === 'done' || event.kind === 'failed' || event.kind === 'interrupted';
}

export type LlmStream = AsyncIterable<StreamEvent>;

/** What a call into a model may be given; an adapter that ignores it is still a valid {@link Llm}. */
export interface GenerateOptions {
  signal?: AbortSignal;
}

/**
 * The model seam. `generate` rejects when there is no stream to read (an {@link LlmError}
 * says why); what goes wrong later is a `failed` event or a throw of the iteration.
 *
 * @example
 * async function* reply(): AsyncGenerator<StreamEvent> {
 *   yield { kind: 'text', text: 'Hello.' };
 *   yield { kind: 'done', message: assistantText('Hello.') };
 * }
 * const model: Llm = { generate: async () => reply() };
 */
export interface Llm {
  generate(request: ModelRequest, options?: GenerateOptions): Promise<LlmStream>;
}

export type LlmErrorKind = ModelFailureKind | 'timeout';
export type TimeoutStage = 'connect' | 'response' | 'idle';

export interface LlmErrorDetails {
  isTimeout?: boolean;
  timeoutStage?: TimeoutStage | null;
  httpStatus?: number | null;
  retryable?: boolean;
  retryAfterMs?: number | null;
}

/** Why a model did not answer, with what a retry policy needs to know. */
export class LlmError extends Error {
  override readonly name = 'LlmError';
  readonly kind: LlmErrorKind;
  readonly isTimeout: boolean;
  /** The wait that ran out, when one did. */
  readonly timeoutStage: TimeoutStage | null;
  readonly httpStatus: number | null;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Milliseconds the provider asked to be left alone for, when it did. */
  readonly retryAfterMs: number | null;

  constructor(message: string, kind: LlmErrorKind = 'generate', details: LlmErrorDetails = {}) {
    super(message);
    this.kind = kind;
    this.isTimeout = details.isTimeout ?? kind === 'timeout';
    this.timeoutStage = details.timeoutStage ?? null;
    this.httpStatus = details.httpStatus ?? null;
    this.retryable = details.retryable ?? false;
    this.retryAfterMs = details.retryAfterMs ?? null;
  }
}
