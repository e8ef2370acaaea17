/** Gives what is sent on in place of a frame: the same object where nothing is to change. */
export type RewriteFrame = (frame: unknown) => unknown;

const LINE_END = /\r\n?|\n/;

/**
 * A stream of events whose data went through `rewrite`, each parsed once and encoded again only
 * when something else came of it. Data that is no JSON goes on as it is; an event that the
 * stream ends in does not, nor do comments and other fields. Fails with what `rewrite` throws.
 */
export function rewriteFrames(
  body: ReadableStream<Uint8Array>,
  rewrite: RewriteFrame,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const events = new EventData();
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        const ended = events.add(decoder.decode(piece, { stream: true }));
        const text = ended.map((data) => eventOf(rewriteData(data, rewrite))).join('');
        if (text !== '') controller.enqueue(encoder.encode(text));
      },
    }),
  );
}

function rewriteData(data: string, rewrite: RewriteFrame): string {
  let frame: unknown;
  try {
    frame = JSON.parse(data);
  } catch {
    return data;
  }
  const rewritten = rewrite(frame);
  return rewritten === frame ? data : JSON.stringify(rewritten);
}

const eventOf = (data: string): string => `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;

/** Finds the data of each event in a text that comes in pieces. */
class EventData {
  /** The line that has not ended. */
  #line = '';
  /** A carriage return at the end of what came: a line feed may follow that is part of it. */
  #held: '\r' | '' = '';
  #data: string[] = [];

  /** Takes more text, and gives the data of the events that it ends. */
  add(text: string): string[] {
    const whole = this.#held + text;
    this.#held = whole.endsWith('\r') ? '\r' : '';
    const [first = '', ...others] = whole
      .slice(0, whole.length - this.#held.length)
      .split(LINE_END);
    const lines = [this.#line + first, ...others];
    this.#line = lines.pop() ?? '';
    return lines.flatMap((line) => this.#take(line));
  }

  #take(line: string): string[] {
    if (line.startsWith('data:')) this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
    if (line !== '' || this.#data.length === 0) return [];
    const data = this.#data.join('\n');
    this.#data = [];
    return [data];
  }
}
