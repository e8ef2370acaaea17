import {
  assistantText,
  describeValue,
  type GenerateOptions,
  type Llm,
  type LlmStream,
  type Message,
  type ModelRequest,
  type StreamEvent,
} from '@celestea/core';
import { estimateUsage } from './estimate.ts';
import { pause } from '../pause.ts';
import { decideReply, type Reply } from './reply.ts';

/** Settings of an {@link OfflineLlm}. */
export interface OfflineLlmOptions {
  /**
   * Milliseconds to wait between two pieces of text, so that people see them arrive; from 0
   * to 2147483647. Default 0: no timer at all.
   */
  readonly delayMs?: number;
}

const LONGEST_DELAY = 2 ** 31 - 1;
const LONGEST_PIECE = 200;

/**
 * A model for first runs without a key or a network. It follows simple rules: it reads the
 * question for files, names and folders, calls `list_dir`, `read_file` and `search_text`
 * where they are offered, and quotes what it found; every answer says what it is. It calls
 * `write_file` only when the whole question is a request to write a given text to a named
 * file, as in `write "hello" to notes.md`. The same request always gives the same events.
 * `model`, `max_tokens` and `temperature` mean nothing to it, and it never fails by itself.
 *
 * @example
 * const llm = new OfflineLlm({ delayMs: 8 });
 * const stream = await llm.generate(request, { signal });
 * for await (const event of stream) if (event.kind === 'text') show(event.text);
 */
export class OfflineLlm implements Llm {
  readonly #delayMs: number;

  /** @throws TypeError naming the option that is not what it should be. */
  constructor(options: OfflineLlmOptions = {}) {
    this.#delayMs = readDelay(options);
  }

  /**
   * The events of one reply: reasoning, then the text piece by piece (none when it calls
   * tools), one `usage`, and `done` last. When the signal aborts, `interrupted` comes in
   * place of whatever is left.
   */
  generate(request: ModelRequest, options: GenerateOptions = {}): Promise<LlmStream> {
    return new Promise((resolve) => {
      resolve(play(request, this.#delayMs, options.signal));
    });
  }
}

function readDelay(options: unknown): number {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`options must be an object, got ${describeValue(options)}`);
  }
  const delay: unknown = 'delayMs' in options ? options.delayMs : undefined;
  if (delay === undefined) return 0;
  if (typeof delay !== 'number' || !(delay >= 0 && delay <= LONGEST_DELAY)) {
    const expected = `a number of milliseconds from 0 to ${String(LONGEST_DELAY)}`;
    throw new TypeError(`delayMs must be ${expected}, got ${describeValue(delay)}`);
  }
  return delay;
}

function play(request: ModelRequest, delayMs: number, signal: AbortSignal | undefined): LlmStream {
  if (signal?.aborted === true) return stream([{ kind: 'interrupted' }], 0, undefined);
  const reply = decideReply(request);
  const usage = estimateUsage(request, reply);
  const events: StreamEvent[] = [
    ...pieces(reply.thinking).map((text): StreamEvent => ({ kind: 'thinking', text })),
    ...pieces(reply.text).map((text): StreamEvent => ({ kind: 'text', text })),
    { kind: 'usage', usage },
    { kind: 'done', message: messageOf(reply) },
  ];
  return stream(events, delayMs, signal);
}

async function* stream(
  events: readonly StreamEvent[],
  delayMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent> {
  for (const [index, event] of events.entries()) {
    const isPiece = event.kind === 'thinking' || event.kind === 'text';
    if (index > 0 && isPiece) await pause(delayMs, signal);
    if (signal?.aborted === true) {
      yield { kind: 'interrupted' };
      return;
    }
    yield event;
  }
}

/** A text in words with the space before them; very long ones are cut. Joined, it is the text. */
function pieces(text: string): string[] {
  const words = text.match(/\s*\S+(?:\s+$)?/g) ?? [];
  return words.flatMap((word) => {
    if (word.length <= LONGEST_PIECE) return [word];
    const parts: string[] = [];
    let part = '';
    for (const point of word) {
      part += point;
      if (part.length >= LONGEST_PIECE) {
        parts.push(part);
        part = '';
      }
    }
    return part === '' ? parts : [...parts, part];
  });
}

/** All calls of one reply stand in one message (C1.3). */
function messageOf({ calls, text }: Reply): Message {
  if (calls.length === 0) return assistantText(text);
  return {
    role: 'assistant',
    content: calls.map(({ id, name, args }) => ({
      type: 'tool_call',
      content: { id, name, args: { ...args } },
    })),
    tool_call_id: null,
  };
}
