import { createHash, timingSafeEqual } from 'node:crypto';

/** What callers have to show. */
export class AccessToken {
  /** Goes into a cookie, and nowhere else. */
  readonly text: string;
  /**
   * Of the cookie that holds it. Browsers keep one cookie of a name for all ports of a machine, so
   * that hosts beside each other need names of their own. 32 bits of a digest give no token away.
   */
  readonly cookieName: string;
  readonly #digest: Uint8Array;
  /** What may be left of it where a text was cut. */
  readonly #starts: readonly string[];

  constructor(text: string) {
    this.text = text;
    this.#digest = digest(text);
    this.cookieName = `celestea_token_${Buffer.from(this.#digest).toString('hex', 0, 4)}`;
    this.#starts = startsOf(text);
  }

  /** Takes as long for what is nearly right as for what is all wrong. */
  fits(candidate: string | undefined): boolean {
    return candidate !== undefined && timingSafeEqual(digest(candidate), this.#digest);
  }

  /** The same text without the token, whole or cut off at the end, should it be in there. */
  redact(text: string): string {
    if (!text.includes(this.text.slice(0, SHORTEST_START))) return text;
    return this.#starts.reduce(withoutCut, text.replaceAll(this.text, '(token)'));
  }
}

/** A shorter start says too little, and may be any word. */
const SHORTEST_START = 8;

/** All starts of a token but itself, the longest first. */
function startsOf(token: string): string[] {
  const count = Math.max(0, token.length - SHORTEST_START);
  return Array.from({ length: count }, (_, index) => token.slice(0, token.length - 1 - index));
}

/** The same text without what is the end of it, or stands before the mark of a cut. */
function withoutCut(text: string, start: string): string {
  const marked = text.replaceAll(`${start}…`, '(token)…');
  return marked.endsWith(start) ? `${marked.slice(0, -start.length)}(token)` : marked;
}

/** Of one length, whatever the text's is. */
const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest();

const BEARER = /^bearer +([^\s]+) *$/i;

/** The token of an `Authorization` header. */
export function bearerToken(header: string | undefined): string | undefined {
  return BEARER.exec(header ?? '')?.[1];
}
