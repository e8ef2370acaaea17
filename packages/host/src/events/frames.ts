import { serdeJsonString, type SseEventName } from '@celestea/core';

/** A comment, which readers skip: it shows that the connection lives. */
export const HEARTBEAT = ': \n\n';

/** In UTF-16 units: six times as much, every one escaped, is still a string that can be made. */
const MAX_PAYLOAD_LENGTH = 2 ** 26;

/** What JSON lets stand raw, and what readers that split at Unicode's line ends would break at. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** An event with its place in a session. */
interface NumberedEvent {
  /** `null`: a reader keeps the last one it has. */
  readonly id: number | null;
  readonly name: SseEventName;
  readonly session: string;
  readonly turn: string | null;
  readonly seq: number;
  /** Any is written (see `serdeJsonString`), but as `{}` when it has more than 64 Mi UTF-16 units. */
  readonly payload: object;
}

/** The server-sent event: lines `id`, `event` and `data`, and a blank one. */
export function eventFrame({ id, name, session, turn, seq, payload }: NumberedEvent): string {
  const json = serdeJsonString(payload);
  const told = json.length > MAX_PAYLOAD_LENGTH ? '{}' : json;
  const from = `"session":${JSON.stringify(session)},"turn":${JSON.stringify(turn)}`;
  const envelope = `{"v":1,${from},"seq":${String(seq)},"payload":${told}}`;
  const data = envelope.replace(LINE_ENDS, escaped);
  return `${id === null ? '' : `id: ${String(id)}\n`}event: ${name}\ndata: ${data}\n\n`;
}

const escaped = (end: string): string =>
  `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Tells a reader how long to wait before it connects again, in milliseconds. */
export const retryFrame = (ms: number): string => `retry: ${String(ms)}\n\n`;
