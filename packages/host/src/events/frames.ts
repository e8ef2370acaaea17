import { expectThat, isRecord } from '@celestea/core';

import { expectName, expectWhole } from './checks.ts';
import type { StoredEvent } from './ring.ts';

/** Ends the data of a frame, and the frame. */
export const FRAME_END = '\n\n';

/** All that one reader or another takes for the end of a line; JSON holds none of the first two. */
// eslint-disable-next-line no-control-regex -- the line ends of Unicode are control characters
const LINE_END = /\r\n|[\n\v\f\r\x1c-\x1e\u0085\u2028\u2029]/;

/**
 * The server-sent event: lines `id`, `event` and `data`, and a blank one.
 *
 * @throws TypeError for an event that would break the frame; a ring never gives one.
 * @example formatFrame(event) // 'id: 0\nevent: text\ndata: {"v":1,…}\n\n'
 */
export function formatFrame(event: StoredEvent): string {
  expectThat(isRecord(event), 'event', 'an object', event);
  const { seq, name, data } = event;
  expectWhole(seq, 'event.seq', 0);
  expectName(name, 'event.name');
  const isLine = typeof data === 'string' && !LINE_END.test(data);
  expectThat(isLine, 'event.data', 'a text of one line', data);
  return frameHead(event) + data + FRAME_END;
}

/** All of a frame up to its data; ASCII. */
export function frameHead({ seq, name }: Pick<StoredEvent, 'seq' | 'name'>): string {
  return `id: ${String(seq)}\n${unnumberedHead(name)}`;
}

/** As {@link frameHead}, without an id: a reader keeps the one it has. */
export function unnumberedHead(name: StoredEvent['name']): string {
  return `event: ${name}\ndata: `;
}

/**
 * A comment, which readers skip: it shows that the connection lives. A text of several lines
 * is a comment of several lines.
 *
 * @throws TypeError unless `text` is a text.
 */
export function commentFrame(text: string): string {
  expectThat(typeof text === 'string', 'text', 'a text', text);
  const lines = text.split(LINE_END).map((line) => `: ${line}\n`);
  return `${lines.join('')}\n`;
}

/**
 * Tells a reader how long to wait before it connects again.
 *
 * @param ms milliseconds.
 * @throws TypeError unless `ms` is a whole number of at least 0.
 */
export function retryFrame(ms: number): string {
  expectWhole(ms, 'ms', 0);
  return `retry: ${String(ms)}${FRAME_END}`;
}

/**
 * The seq in a `Last-Event-ID`: plain digits, no more than a number holds exactly. `null` for
 * anything else, and for none.
 */
export function parseLastEventId(text: string | null | undefined): number | null {
  if (typeof text !== 'string' || !/^[0-9]+$/.test(text)) return null;
  const seq = Number(text);
  return Number.isSafeInteger(seq) ? seq : null;
}
