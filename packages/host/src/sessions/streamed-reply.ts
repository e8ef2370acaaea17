import type { SessionEvent } from '@celestea/core';

/** What was streamed of the reply that the model is giving, and stands in no row yet. */
export interface ReplyState {
  readonly text: string;
  readonly thinking: string;
}

/**
 * Follows a reply from its events to its rows. Thinking is written burst by burst, text when the
 * reply is whole. The text of a reply that broke off is never written: the turn ends with it.
 */
export class StreamedReply {
  readonly #text = new Pieces();
  readonly #thinking = new Pieces();

  addText(delta: string): void {
    this.#text.add(delta);
  }

  addThinking(delta: string): void {
    this.#thinking.add(delta);
  }

  /** To be told of every row right after it was written. */
  onRow({ type }: SessionEvent): void {
    switch (type) {
      case 'thinking_delta':
        this.#thinking.clear();
        return;
      case 'assistant_message':
      case 'tool_call': // of a reply whose text came to nothing
      case 'turn_end':
        this.#thinking.clear();
        this.#text.clear();
        return;
      case 'turn_start':
      case 'user_message':
      case 'tool_result':
        return;
      default:
        return type satisfies never;
    }
  }

  read(): ReplyState {
    return { text: this.#text.join(), thinking: this.#thinking.join() };
  }
}

/** A text that grows piece by piece and is put together when it is asked for. */
class Pieces {
  #pieces: string[] = [];

  add(piece: string): void {
    this.#pieces.push(piece);
  }

  clear(): void {
    this.#pieces = [];
  }

  join(): string {
    const text = this.#pieces.join('');
    this.#pieces = text === '' ? [] : [text];
    return text;
  }
}
