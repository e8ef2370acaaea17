import { messageToolCalls, toolResultMessage, type Message, type ToolCall } from './message.ts';

/**
 * What a call without an answer is answered with when a request is built. The log is not
 * touched (C4.6).
 */
export const CANCELLED_TOOL_CALL_TEXT =
  'Error: this tool call was cancelled before a result was recorded; its outcome is not known.';

/** Where the answers to one call id belong; the newest message that uses the id owns it. */
interface AnswerSlots {
  /** Index of the assistant message. */
  readonly owner: number;
  /** Indices of the answers still missing, in call order. */
  readonly open: number[];
}

/**
 * Messages in which every call has its answer at every moment: an assistant message brings
 * one placeholder a call, an answer takes its placeholder's seat wherever it arrives, and
 * what answers nothing is dropped. Each message costs O(1), so a log of any length can be
 * balanced as it grows.
 */
export class BalancedMessages {
  readonly #list: Message[] = [];
  readonly #slots = new Map<string, AnswerSlots>();

  get length(): number {
    return this.#list.length;
  }

  /** A fresh array of the same message objects. */
  toArray(): Message[] {
    return this.#list.slice();
  }

  add(message: Message): void {
    if (message.role === 'tool') {
      this.#answer(message);
      return;
    }
    const owner = this.#list.push(message) - 1;
    if (message.role === 'assistant') this.#expect(owner, messageToolCalls(message));
  }

  /**
   * Replaces the last assistant message by one that has more calls. `added` are the calls
   * that it had not yet. Only while nothing was added after it but its own placeholders.
   */
  extend(owner: number, message: Message, added: readonly ToolCall[]): void {
    this.#list[owner] = message;
    this.#expect(owner, added);
  }

  #expect(owner: number, calls: readonly ToolCall[]): void {
    for (const { id } of calls) {
      const index = this.#list.push(toolResultMessage(id, CANCELLED_TOOL_CALL_TEXT)) - 1;
      const slots = this.#slots.get(id);
      if (slots?.owner === owner) slots.open.push(index);
      else this.#slots.set(id, { owner, open: [index] });
    }
  }

  #answer(message: Message): void {
    if (message.tool_call_id === null) return;
    const index = this.#slots.get(message.tool_call_id)?.open.shift();
    if (index !== undefined) this.#list[index] = message;
  }
}

/**
 * The messages with every call answered once, at once and in call order (C4.6): missing
 * answers are synthesised, late ones moved up, orphans and second answers dropped. Returns a
 * fresh array; an id that several messages use belongs to the newest of them.
 */
export function balanceToolCalls(messages: Iterable<Message>): Message[] {
  const balanced = new BalancedMessages();
  for (const message of messages) balanced.add(message);
  return balanced.toArray();
}
