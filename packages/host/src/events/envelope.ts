import { serdeJsonString } from '@celestea/core';

/** In UTF-16 units: six times as much, every one escaped, is still a string that can be made. */
const MAX_RECORD_LENGTH = 2 ** 26;

/** What JSON lets stand raw, and what readers that split at Unicode's line ends would break at. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/**
 * The JSON text of an object, on one line: the same text for the same value, and never an
 * exception (see `serdeJsonString`). `null` for what is written as no object, and for what is
 * longer than 64 Mi UTF-16 units.
 */
export function recordText(value: unknown): string | null {
  const text = serdeJsonString(value);
  return text.startsWith('{') && text.length <= MAX_RECORD_LENGTH ? onOneLine(text) : null;
}

/** The envelope of `contracts/sse-events.json` as one line of JSON, around a payload's text. */
export function envelopeText(
  session: string,
  turn: string | null,
  seq: number,
  payload: string,
): string {
  const from = onOneLine(`"session":${JSON.stringify(session)},"turn":${JSON.stringify(turn)}`);
  return `{"v":1,${from},"seq":${String(seq)},"payload":${payload}}`;
}

function onOneLine(json: string): string {
  return json.replace(LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
