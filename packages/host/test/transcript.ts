import type { Event } from './http-support.ts';

/** A piece of a session as a person sees it. */
export type Item = Readonly<Record<string, unknown>>;

/** Shows a session from its rows, the reply that is being given, and events. */
export class Transcript {
  readonly #items: Item[] = [];
  /** The text that was streamed until a reply was whole or broke off, by the event that said so. */
  readonly streamed = new Map<number, string>();
  /** The reply that was being given when it began. */
  cameTo = { text: '', thinking: '' };
  #text = '';
  #thinking = '';

  /** What is seen; pieces of thinking that follow on each other are one. */
  get items(): Item[] {
    const joined: Item[] = [];
    for (const item of this.#items) {
      const last = joined.at(-1);
      const isMore = item['kind'] === 'thinking' && last?.['kind'] === 'thinking';
      if (!isMore) joined.push(item);
      else joined.splice(-1, 1, { ...item, text: String(last['text']) + String(item['text']) });
    }
    return joined.filter((item) => item['kind'] !== 'thinking' || item['text'] !== '');
  }

  addRows(messages: readonly Item[]): void {
    for (const { at, turn, ...item } of messages) {
      if (typeof at !== 'number' || turn === undefined) throw new Error('a row without a place');
      this.#items.push(item);
    }
  }

  addReply({ text, thinking }: { text: string; thinking: string }): void {
    this.cameTo = { text, thinking };
    this.#text = text;
    this.#thinking = thinking;
  }

  addEvent({ id: seq, name, payload }: Event): void {
    const { id, name: tool, args, ok, value, error, outcome } = payload;
    switch (name) {
      case 'text':
        this.#text += String(payload['delta']);
        return;
      case 'thinking':
        this.#thinking += String(payload['delta']);
        return;
      case 'done': {
        const isLast = Array.isArray(payload['tool_calls']) && payload['tool_calls'].length === 0;
        this.#endReply(seq);
        if (payload['text'] !== '' || isLast) this.#add('assistant', { text: payload['text'] });
        return;
      }
      case 'tool':
        this.#add('tool_call', { id, name: tool, args });
        return;
      case 'tool_result':
        this.#add('tool_result', { id, ok, value, error });
        return;
      case 'turn_end':
        this.#endReply(seq); // what broke off stands in no row
        this.#add('turn_end', { outcome, error });
        return;
      case 'status':
        this.#addStatus(payload);
        return;
      default:
        throw new Error(`an event ${name}`);
    }
  }

  #addStatus({ phase, input, inputs }: Record<string, unknown>): void {
    if (phase === 'start') this.#add('user', { text: input });
    const taken: unknown[] = phase === 'steered' && Array.isArray(inputs) ? inputs : [];
    for (const text of taken) this.#add('user', { text });
  }

  #endReply(seq: number): void {
    this.streamed.set(seq, this.#text);
    this.#add('thinking', { text: this.#thinking });
    this.#text = '';
    this.#thinking = '';
  }

  #add(kind: string, item: Item): void {
    this.#items.push({ kind, ...item });
  }
}
