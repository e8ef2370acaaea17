import { toolResultMessage, type Message } from './message.ts';

/**
 * What a call without an answer is answered with when a request is built. The log is not
 * touched (C4.6).
 */
export const CANCELLED_TOOL_CALL_TEXT =
  'Error: this tool call was cancelled before a result was recorded; its outcome is not known.';

/**
 * Messages in which every call has its answer at every moment: an assistant message brings
 * one seat a call, an answer takes its seat wherever it arrives, a placeholder sits where one is
 * missing, and what answers nothing is dropped. Each message costs O(1), so a log of any length
 * can be balanced as it grows.
 */
export class BalancedMessages {
  /** On a seat that nobody has seen empty yet, the id of its call. */
  readonly #list: (Message | string)[] = [];
  /** Indices of the free seats of an id, which the newest message that uses the id owns. */
  readonly #free = new Map<string, number | number[]>();
  /** Seats that came since the messages were last asked for. */
  #fresh: number[] = [];

  get length(): number {
    return this.#list.length;
  }

  /** A fresh array of the same message objects. */
  toArray(): Message[] {
    for (const index of this.#fresh) {
      const seat: unknown = this.#list[index];
      if (typeof seat === 'object' && seat !== null) continue;
      // of rows that nobody checked the id may be anything
      this.#list[index] = toolResultMessage(seat as string, CANCELLED_TOOL_CALL_TEXT);
    }
    this.#fresh = [];
    return this.#list.slice() as Message[];
  }

  add(message: Message): void {
    if (message.role === 'tool') this.#answer(message);
    else this.#seat(this.#list.push(message) - 1, message, 0);
  }

  /**
   * Replaces the last assistant message by one that has more blocks, from the block `from` on.
   * Only while nothing was added after it but its own seats.
   */
  extend(owner: number, message: Message, from: number): void {
    this.#list[owner] = message;
    this.#seat(owner, message, from);
  }

  #seat(owner: number, { role, content }: Message, from: number): void {
    if (role !== 'assistant') return;
    for (let at = from; at < content.length; at += 1) {
      const block = content[at];
      if (block?.type !== 'tool_call') continue;
      const { id } = block.content;
      const index = this.#list.push(id) - 1;
      this.#fresh.push(index);
      const free = this.#free.get(id);
      if (typeof free === 'object' && (free[0] ?? 0) > owner) free.push(index);
      else this.#free.set(id, typeof free === 'number' && free > owner ? [free, index] : index);
    }
  }

  #answer(message: Message): void {
    const id = message.tool_call_id;
    if (id === null) return;
    const free = this.#free.get(id);
    const index = typeof free === 'object' ? free.shift() : free;
    if (index === undefined) return;
    this.#list[index] = message;
    if (typeof free === 'number' || free?.length === 0) this.#free.delete(id);
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
