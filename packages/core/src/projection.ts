import { BalancedMessages } from './balance.ts';
import { readImageRef } from './image-ref.ts';
import { exceedsLevels, serdeJsonString } from './json-text.ts';
import {
  isThinkingContent,
  isToolCallContent,
  toolResultMessage,
  toolResultWithImages,
  userMessage,
  userMessageWithImages,
  type Content,
  type ImageRef,
  type Message,
  type ThinkingContent,
  type ToolCall,
} from './message.ts';
import type {
  AssistantMessageRow,
  SessionEvent,
  ThinkingDeltaRow,
  ToolCallRow,
  ToolResultRow,
  UserMessageRow,
} from './session-event.ts';
import { isRecord } from './shape.ts';
import { renderSurface } from './surface.ts';
import { sendableValue } from './sendable-value.ts';

/** What the model reads of a call that had started when its turn was cancelled (X17). */
export const ABANDONED_TOOL_CALL_TEXT =
  'Error: this tool call had started when the turn was cancelled; its outcome is not known.';

/** The assistant message that the rows of one step are merging into. */
interface OpenMessage {
  readonly blocks: Content[];
  /** How many of the blocks the message in the list has. */
  settled: number;
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
  #open: OpenMessage | null = null;
  /** Signed reasoning of the step whose reply has not come yet (X10). */
  #thinking: ThinkingContent[] = [];

  append(row: SessionEvent): void {
    switch (row.type) {
      case 'turn_start':
      case 'turn_end':
        this.#thinking = [];
        if (this.#open?.blocks.some(isToolCallContent) === false) this.#close();
        return; // never seen, so it does not end a merge of calls
      case 'thinking_delta':
        this.#addThinking(row);
        return;
      case 'tool_call':
        if (row.parent_id === undefined) this.#addCall(row);
        return;
      case 'tool_result':
        if (row.parent_id === undefined) this.#addVisible(resultMessage(row));
        return;
      case 'user_message':
        this.#addVisible(userMessageOf(row));
        return;
      case 'assistant_message':
        this.#addReply(row);
        return;
      default:
        row satisfies never;
    }
  }

  /** The messages so far, balanced (C4.6), as a fresh array. */
  messages(): Message[] {
    const open = this.#open;
    if (open !== null) this.#settle(open, open.blocks.slice()); // more may come to those
    return this.#messages.toArray();
  }

  #addThinking({ text, meta }: ThinkingDeltaRow): void {
    if (!isReturnable(meta)) return; // never seen again
    this.#close();
    const content = { text: text.toWellFormed(), meta: sendableValue(meta) };
    this.#thinking.push({ type: 'thinking', content });
  }

  #addCall({ id, name, args, meta }: ToolCallRow): void {
    const call: ToolCall = { id, name: name.toWellFormed(), args: sendableValue(args) };
    if (isReturnable(meta)) call.meta = sendableValue(meta);
    this.#open ??= { blocks: this.#takeThinking(), settled: 0, index: null };
    this.#open.blocks.push({ type: 'tool_call', content: call });
  }

  /** Words with calls after them wait for the calls; an empty reply is no message (X9). */
  #addReply({ text, calls_follow }: AssistantMessageRow): void {
    this.#close();
    const isEmpty = text.trim() === ''; // providers refuse blank words as they do none
    const words: Content[] = isEmpty ? [] : [{ type: 'text', content: text.toWellFormed() }];
    const blocks = [...this.#takeThinking(), ...words];
    if (calls_follow === true) this.#open = { blocks, settled: 0, index: null };
    else if (!isEmpty) this.#messages.add(assistantMessage(blocks));
  }

  #addVisible(message: Message): void {
    this.#close();
    this.#thinking = [];
    this.#messages.add(message);
  }

  #takeThinking(): Content[] {
    const thinking = this.#thinking;
    this.#thinking = [];
    return thinking;
  }

  #close(): void {
    const open = this.#open;
    if (open !== null) this.#settle(open, open.blocks);
    this.#open = null;
  }

  /** Brings the message being merged up to date in the list. */
  #settle(open: OpenMessage, blocks: Content[]): void {
    const { settled, index } = open;
    if (settled === blocks.length || blocks.every(isThinkingContent)) return;
    open.settled = blocks.length;
    open.index = index ?? this.#messages.length;
    if (index === null) this.#messages.add(assistantMessage(blocks));
    else this.#messages.extend(index, assistantMessage(blocks), settled);
  }
}

/** Whether a provider gets it back: what is signed is of use whole or not at all (X10, X32). */
const isReturnable = (meta: unknown): boolean =>
  meta !== undefined && meta !== null && !exceedsLevels(meta);

const assistantMessage = (content: Content[]): Message => ({
  role: 'assistant',
  content,
  tool_call_id: null,
});

/**
 * What the model is to see of a log (C4.5): messages, calls merged into one assistant
 * message a step, every call answered (C4.6), texts and arguments of well-formed Unicode,
 * which providers insist on. Turn rows, unsigned reasoning, empty replies and rows of nested
 * calls stay in the log.
 */
export function deriveMessagesFrom(events: Iterable<SessionEvent>): Message[] {
  const projection = new IncrementalProjection();
  for (const event of events) projection.append(event);
  return projection.messages();
}

function userMessageOf({ text, attachments = [] }: UserMessageRow): Message {
  const words = text.toWellFormed();
  const images = attachments.map((ref) => readImageRef(ref) ?? ref); // the known fields alone
  return images.length === 0 ? userMessage(words) : userMessageWithImages(words, images);
}

function resultMessage(row: ToolResultRow): Message {
  const text = resultText(row).toWellFormed();
  const images = attachmentsOf(row.value);
  return images.length === 0
    ? toolResultMessage(row.id, text)
    : toolResultWithImages(row.id, text, images);
}

function resultText({ value, error, surface, abandoned }: ToolResultRow): string {
  if (abandoned === true) return ABANDONED_TOOL_CALL_TEXT;
  if (error !== null && error !== '') return `Error: ${error}`;
  const whole = serdeJsonString(value);
  return surface === undefined ? whole : renderSurface(value, whole, surface);
}

/** The pictures a result's value refers to. */
function attachmentsOf(value: unknown): ImageRef[] {
  if (!isRecord(value) || !Array.isArray(value['attachments'])) return [];
  // `Object.values` passes over holes: a sparse array costs no more than what it holds
  const refs = Object.values<unknown>(value['attachments']).map(readImageRef);
  return refs.filter((ref) => ref !== null);
}
