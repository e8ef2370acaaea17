/** What a key looks like that can stand in a header. */
export const API_KEY_EXPECTED = 'printable ASCII characters without blanks';

/** A key without the whitespace around it; `null` when it cannot be sent in a header. */
export function readApiKey(text: unknown): string | null {
  const key = typeof text === 'string' ? text.trim() : '';
  return /^[!-~]+$/.test(key) ? key : null;
}
