import {
  describeValue,
  STREAM_EVENT_KINDS,
  messageTexts,
  messageToolCalls,
  type Message,
  type StreamEvent,
  type ToolCall,
  type TurnOutcome,
} from '@celestea/core';

import { errorMessage } from './cancel.ts';
import { readStream } from './stream.ts';
import { ThinkingBurst } from './thinking.ts';
import type { Turn } from './turn.ts';

/** What a model's stream came to. */
export interface Reply {
  /** The finished reply; `null` when no `done` came. */
  readonly done: FinishedReply | null;
  /** What ended the stream other than its end; may stand beside a `done` (L3.7). */
  readonly failure: TurnOutcome | null;
}

export interface FinishedReply {
  readonly text: string;
  readonly calls: ToolCall[];
}

/** Reads a model's stream to its end, telling the sink as it goes (L3). */
export async function readReply(turn: Turn, stream: AsyncIterable<unknown>): Promise<Reply> {
  const reader = new ReplyReader(turn);
  const end = await readStream(stream, turn.signal, reader.take);
  reader.flushThinking();
  if (end.kind === 'threw') reader.failure ??= streamFailure(errorMessage(end.error));
  return reader;
}

const streamFailure = (message: string): TurnOutcome => ({ error: { kind: 'stream', message } });

class ReplyReader implements Reply {
  done: FinishedReply | null = null;
  failure: TurnOutcome | null = null;
  readonly #turn: Turn;
  readonly #thinking = new ThinkingBurst();

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** Takes one event; `false` when nothing after it counts. */
  readonly take = (value: unknown): boolean => {
    const fault = eventFault(value);
    if (fault !== null) return this.#end(streamFailure(fault));
    const event = value as StreamEvent;
    switch (event.kind) {
      case 'text':
        this.flushThinking();
        this.#turn.emit({ kind: 'text', delta: event.text });
        return true;
      case 'thinking':
        this.#turn.emit({ kind: 'thinking', delta: event.text });
        this.#thinking.add(event.text);
        return true;
      case 'usage':
        this.#turn.usage?.record(event.usage);
        return true;
      case 'done':
        this.flushThinking();
        this.#addDone(event.message);
        return true;
      case 'failed':
        return this.#end({ error: { kind: event.kindOf, message: event.message } });
      case 'interrupted':
        return this.#end('interrupted');
      default:
        return event satisfies never;
    }
  };

  /** Writes the burst so far: a boundary was reached (L3.2). */
  flushThinking(): void {
    const text = this.#thinking.take();
    if (text !== null) this.#turn.append({ type: 'thinking_delta', text });
  }

  #end(failure: TurnOutcome): false {
    this.flushThinking();
    this.failure = failure;
    return false;
  }

  #addDone(message: Message): void {
    this.done = {
      text: (this.done?.text ?? '') + messageTexts(message).join(''),
      calls: [...(this.done?.calls ?? []), ...messageToolCalls(message).map(readCall)],
    };
  }
}

/** Arguments left out are `null`: everything that is told of a call says what they were. */
const readCall = ({ id, name, args }: ToolCall): ToolCall => ({ id, name, args: args ?? null });

/** What is wrong with a stream's event; `null` when it can be taken (L2.6). */
function eventFault(value: unknown): string | null {
  try {
    return shapeFault(value);
  } catch (error) {
    return `malformed stream event: ${errorMessage(error)}`; // a getter of it that throws
  }
}

function shapeFault(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) {
    return `malformed stream event: expected an object, got ${describeValue(value)}`;
  }
  const event = value as StreamEvent;
  switch (event.kind) {
    case 'text':
    case 'thinking':
      return isText(event.text) ? null : malformed(event.kind, 'text', 'a string', event.text);
    case 'usage':
      return isUsage(event.usage)
        ? null
        : malformed(event.kind, 'usage', 'five counters', event.usage);
    case 'done':
      return isReplyMessage(event.message)
        ? null
        : malformed(event.kind, 'message', 'an assistant message', event.message);
    case 'failed':
      if (!isText(event.message)) return malformed('failed', 'message', 'a string', event.message);
      return FAILURE_KINDS.includes(event.kindOf)
        ? null
        : malformed('failed', 'kindOf', FAILURE_KINDS.join(' or '), event.kindOf);
    case 'interrupted':
      return null;
    default:
      return malformed('stream', 'kind', STREAM_EVENT_KINDS.join(', '), (value as { kind?: unknown }).kind);
  }
}

const malformed = (kind: string, field: string, expected: string, came: unknown): string =>
  `malformed ${kind} event: ${field}: expected ${expected}, got ${describeValue(came)}`;

const FAILURE_KINDS: readonly unknown[] = ['generate', 'stream'];

const isText = (value: unknown): value is string => typeof value === 'string';

const isUsage = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  ['prompt_tokens', 'completion_tokens', 'total_tokens', 'cache_read', 'reasoning_tokens'].every(
    (counter) => typeof (value as Record<string, unknown>)[counter] === 'number',
  );

/** Ids are not asked for: a provider that leaves one out still works. */
function isReplyMessage(value: unknown): boolean {
  const content = (value as Partial<Message> | null | undefined)?.content;
  return Array.isArray(content) && content.every(isReplyBlock);
}

function isReplyBlock(value: unknown): boolean {
  const block = value as { type?: unknown; content?: unknown } | null | undefined;
  switch (block?.type) {
    case 'text':
      return isText(block.content);
    case 'tool_call':
      return isText((block.content as Partial<ToolCall> | null | undefined)?.name);
    default:
      return block?.type === 'image';
  }
}
