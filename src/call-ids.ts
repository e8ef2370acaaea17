import type { Message, ToolCall } from '@celestea/core';

/**
 * Gives every call of a conversation an id of its own (X11). A provider may send empty,
 * missing, ill-formed or repeated ids; inside a step a call is known by its position, and an id that
 * cannot tell it apart is replaced by a fresh one.
 */
export class CallIds {
  readonly #prefix: string;
  readonly #used = new Set<string>();
  #count = 0;
  #knowsHistory = false;

  /** `turnId` makes the fresh ids readable. */
  constructor(turnId: string) {
    this.#prefix = `call-${turnId}-`;
  }

  /** The ids of these messages are taken. Only the first history counts: a turn gives all later ids. */
  takeThoseOf(history: Iterable<Message>): void {
    if (this.#knowsHistory) return;
    this.#knowsHistory = true;
    for (const message of history) {
      for (const block of message.content) {
        if (block.type === 'tool_call') this.#used.add(block.content.id);
      }
    }
  }

  /** The calls of one reply, each with an id that was never used before; `replaced` hears of others. */
  unique(
    calls: readonly ToolCall[],
    replaced: (former: unknown, id: string) => void,
  ): ToolCall[] {
    return calls.map((call) => {
      const id: unknown = call.id;
      const fits = typeof id === 'string' && id !== '' && id.isWellFormed() && this.#take(id);
      if (fits) return call;
      const fresh = this.#fresh();
      replaced(id, fresh);
      return { ...call, id: fresh };
    });
  }

  /** Whether it was free; now it is not. One look-up, since a long turn has many ids. */
  #take(id: string): boolean {
    const { size } = this.#used;
    return this.#used.add(id).size > size;
  }

  #fresh(): string {
    let id: string;
    do {
      id = `${this.#prefix}${String(this.#count)}`;
      this.#count += 1;
    } while (!this.#take(id));
    return id;
  }
}
