import { createHash, timingSafeEqual } from 'node:crypto';

/** What callers have to show. */
export class AccessToken {
  /** Goes into a cookie, and nowhere else. */
  readonly text: string;
  readonly #digest: Uint8Array;

  constructor(text: string) {
    this.text = text;
    this.#digest = digest(text);
  }

  /** Takes as long for what is nearly right as for what is all wrong. */
  fits(candidate: string | undefined): boolean {
    return candidate !== undefined && timingSafeEqual(digest(candidate), this.#digest);
  }

  /** The same text without the token, should it be in there. */
  redact(text: string): string {
    return text.replaceAll(this.text, '(token)');
  }
}

/** Of one length, whatever the text's is. */
const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest();

const BEARER = /^bearer +([^\s]+) *$/i;

/** The token of an `Authorization` header. */
export function bearerToken(header: string | undefined): string | undefined {
  return BEARER.exec(header ?? '')?.[1];
}
