import { AnswerError } from './ai-sdk/answer-error.ts';

/** The most bytes of one event of a stream: a reader has to keep all of them. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** A stream of events that fails with an {@link AnswerError} at one of more than 16 MiB. */
export function limitEvents(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const event = new EventSize();
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        event.add(piece);
        if (event.bytes > MAX_EVENT_BYTES) {
          throw new AnswerError('the provider sent an event of more than 16 MiB');
        }
        controller.enqueue(piece);
      },
    }),
  );
}

/** Counts the bytes since the last empty line. */
class EventSize {
  #bytes = 0;
  #isLineEmpty = true;
  #last = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(piece: Uint8Array): void {
    for (const byte of piece) {
      this.#bytes += 1;
      this.#take(byte);
      this.#last = byte;
    }
  }

  #take(byte: number): void {
    if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
      this.#isLineEmpty = false;
      return;
    }
    // both together are one end of a line
    if (byte === LINE_FEED && this.#last === CARRIAGE_RETURN) return;
    if (this.#isLineEmpty) this.#bytes = 0;
    this.#isLineEmpty = true;
  }
}
