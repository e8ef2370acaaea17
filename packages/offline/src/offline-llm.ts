import { expectThat, isRecord, messageTexts } from '@celestea/core';
import type { GenerateOptions, Llm, LlmStream, ModelRequest, StreamEvent } from '@celestea/core';

import { decideReply } from './reply.ts';

/** Settings of an {@link OfflineLlm}. */
export interface OfflineLlmOptions {
  /**
   * Milliseconds to wait between two pieces of text, so that people see them arrive; from 0
   * to 2147483647. Default 0: no timer at all.
   */
  readonly delayMs?: number;
}

const LONGEST_DELAY = 2 ** 31 - 1;

/**
 * A model for first runs without a key or a network. It follows simple rules: it reads the
 * question for files, folders and names, calls `list_dir`, `read_file`, `search_text` and
 * `write_file` where they are offered, and quotes what they bring with file and line. A question
 * gets at most one step with tools. It writes only when the whole question asks for a given text
 * in a named file, as in `write "hello" to notes.txt`. Every answer says what it is, and the same
 * request always gives the same events. It ignores `model`, `max_tokens` and `temperature`.
 *
 * @example
 * const llm = new OfflineLlm({ delayMs: 8 });
 * const stream = await llm.generate(request, { signal });
 * for await (const event of stream) if (event.kind === 'text') show(event.text);
 */
export class OfflineLlm implements Llm {
  readonly #delayMs: number;

  /** @throws TypeError naming the invalid option. */
  constructor(options: OfflineLlmOptions = {}) {
    expectThat(isRecord(options), 'options', 'an object', options);
    const { delayMs: delay = 0 }: { readonly delayMs?: unknown } = options;
    const fits = typeof delay === 'number' && delay >= 0 && delay <= LONGEST_DELAY;
    expectThat(fits, 'delayMs', `milliseconds from 0 to ${String(LONGEST_DELAY)}`, delay);
    this.#delayMs = delay;
  }

  /**
   * The events of one reply: reasoning, then the text piece by piece (none when it calls
   * tools), one `usage`, and `done` last. When the signal aborts, `interrupted` comes in
   * place of whatever is left.
   */
  generate(request: ModelRequest, options: GenerateOptions = {}): Promise<LlmStream> {
    return Promise.resolve(play(request, this.#delayMs, options.signal));
  }
}

async function* play(
  request: ModelRequest,
  delayMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent> {
  let said = 0;
  for (const event of signal?.aborted === true ? [] : eventsOf(request)) {
    if (event.kind === 'thinking' || event.kind === 'text') {
      if (said > 0) await pause(delayMs, signal);
      said += 1;
    }
    if (signal?.aborted === true) break;
    yield event;
    if (event.kind === 'done') return;
  }
  yield { kind: 'interrupted' };
}

function eventsOf(request: ModelRequest): StreamEvent[] {
  const { thinking, message, usage } = decideReply(request);
  return [
    ...pieces(thinking).map((piece): StreamEvent => ({ kind: 'thinking', text: piece })),
    ...messageTexts(message)
      .flatMap(pieces)
      .map((piece): StreamEvent => ({ kind: 'text', text: piece })),
    { kind: 'usage', usage },
    { kind: 'done', message },
  ];
}

/** Words with the space before them, cut between code points. Joined, they are the text. */
const pieces = (text: string): string[] => text.match(/\s*\S{1,100}/gu) ?? [];

/** Waits, or until the signal aborts; then its timer and its listener are gone. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (milliseconds === 0 || signal?.aborted === true) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
  });
}
