import { BalancedMessages } from './balance.ts';
import { readImageRef } from './image-ref.ts';
import { serdeJsonString } from './json-text.ts';
import {
  assistantText,
  toolResultMessage,
  toolResultWithImages,
  userMessage,
  userMessageWithImages,
  type Content,
  type ImageRef,
  type Message,
  type ToolCall,
} from './message.ts';
import type { SessionEvent, ToolCallRow, ToolResultRow } from './session-event.ts';
import { isRecord } from './shape.ts';

/** The assistant message that consecutive `tool_call` rows are merging into. */
interface OpenCalls {
  readonly blocks: Content[];
  /** Calls that the message in the list does not have yet. */
  fresh: ToolCall[];
  /** Where that message stands; `null` before it was first needed. */
  index: number | null;
}

/**
 * What the model is to see of a growing log (C4.7): the same messages as
 * {@link deriveMessagesFrom} after every row, at a cost of the new rows alone. Unchanged
 * messages are handed back as the same objects.
 */
export class IncrementalProjection {
  readonly #messages = new BalancedMessages();
  #open: OpenCalls | null = null;

  append(row: SessionEvent): void {
    switch (row.type) {
      case 'turn_start':
      case 'turn_end':
      case 'thinking_delta':
        return; // never seen, so they do not end a merge either
      case 'tool_call':
        if (row.parent_id === undefined) this.#addCall(row);
        return;
      case 'tool_result':
        if (row.parent_id === undefined) this.#addVisible(resultMessage(row));
        return;
      case 'user_message':
        this.#addVisible(
          row.attachments === undefined || row.attachments.length === 0
            ? userMessage(row.text)
            : userMessageWithImages(row.text, row.attachments),
        );
        return;
      case 'assistant_message':
        this.#addVisible(assistantText(row.text));
        return;
      default:
        row satisfies never;
    }
  }

  /** The messages so far, balanced (C4.6), as a fresh array. */
  messages(): Message[] {
    this.#settleOpen();
    return this.#messages.toArray();
  }

  #addCall(row: ToolCallRow): void {
    this.#open ??= { blocks: [], fresh: [], index: null };
    const call: ToolCall = { id: row.id, name: row.name, args: row.args };
    this.#open.blocks.push({ type: 'tool_call', content: call });
    this.#open.fresh.push(call);
  }

  #addVisible(message: Message): void {
    this.#settleOpen();
    this.#open = null;
    this.#messages.add(message);
  }

  /** Brings the message being merged up to date in the list. */
  #settleOpen(): void {
    const open = this.#open;
    if (open === null || open.fresh.length === 0) return;
    const message: Message = {
      role: 'assistant',
      content: open.blocks.slice(),
      tool_call_id: null,
    };
    if (open.index === null) {
      open.index = this.#messages.length;
      this.#messages.add(message);
    } else this.#messages.extend(open.index, message, open.fresh);
    open.fresh = [];
  }
}

/**
 * What the model is to see of a log (C4.5): messages, calls merged into one assistant
 * message a step, every call answered (C4.6). Turn rows, reasoning and rows of nested calls
 * stay in the log.
 */
export function deriveMessagesFrom(events: Iterable<SessionEvent>): Message[] {
  const projection = new IncrementalProjection();
  for (const event of events) projection.append(event);
  return projection.messages();
}

function resultMessage(row: ToolResultRow): Message {
  const failed = row.error !== null && row.error !== '';
  const text = failed ? `Error: ${row.error ?? ''}` : serdeJsonString(row.value);
  const images = attachmentsOf(row.value);
  return images.length === 0
    ? toolResultMessage(row.id, text)
    : toolResultWithImages(row.id, text, images);
}

/** The pictures a result's value refers to. */
function attachmentsOf(value: unknown): ImageRef[] {
  try {
    if (!isRecord(value) || !Array.isArray(value['attachments'])) return [];
    // `Object.values` passes over holes: a sparse array costs no more than what it holds
    const refs = Object.values<unknown>(value['attachments']).map(readImageRef);
    return refs.filter((ref) => ref !== null);
  } catch {
    return []; // a getter of the value that throws
  }
}
