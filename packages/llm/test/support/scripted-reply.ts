/** What follows the last piece of a body: its end, a cut connection, or nothing at all. */
export type BodyEnding = 'end' | 'cut' | 'silence';

/** One answer of a scripted provider, byte by byte. */
export interface ScriptedReply {
  /** 200 unless given. */
  readonly status?: number;
  /** Beside the content type of an event stream, or in its place. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body; each piece reaches the client by itself. */
  readonly pieces?: readonly Uint8Array[];
  /** `end` unless given. */
  readonly ending?: BodyEnding;
  /** Set: not even the headers are sent. */
  readonly mute?: true;
}

/** How the exchange ended, as the provider sees it. */
export type ExchangeEnd = 'answered' | 'left by the client' | 'cut by the server';

/** What the provider was asked. */
export interface RecordedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON. */
  readonly body: unknown;
  readonly ended: Promise<ExchangeEnd>;
}

/** The headers of a reply that does not say otherwise. */
export const EVENT_STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };

const encoder = new TextEncoder();

export const bytesOf = (text: string): Uint8Array => encoder.encode(text);

/** The bytes in pieces; a cut is the number of bytes before it. */
export function cutAt(bytes: Uint8Array, ...cuts: readonly number[]): Uint8Array[] {
  const edges = [0, ...cuts, bytes.length];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
}

export const byteByByte = (bytes: Uint8Array): Uint8Array[] =>
  [...bytes].map((byte) => Uint8Array.of(byte));

/** A whole body in one piece. */
export const replyOf = (text: string, rest: Omit<ScriptedReply, 'pieces'> = {}): ScriptedReply => ({
  ...rest,
  pieces: [bytesOf(text)],
});

export const jsonReply = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): ScriptedReply =>
  replyOf(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
