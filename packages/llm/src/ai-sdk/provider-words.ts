import { isRecord } from '@celestea/core';

/** The longest text of a body that is taken for a message. */
const MAX_PLAIN = 300;

/** The provider's own words; `''` when there are none. */
export function reasonOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  if (!isRecord(thrown)) return '';
  const { message, error } = thrown;
  if (typeof message === 'string' && message !== '') return message;
  return error === undefined ? codeOf(thrown) : reasonOf(error);
}

/** What the failure is called: `code`, `type` or `status`, also one level inside. */
export function codeOf(thrown: unknown): string {
  if (!isRecord(thrown)) return '';
  const { code, type, status, error } = thrown;
  const names = [code, type, status].filter((name) => typeof name === 'string');
  return names.length > 0 ? names.join(' ') : isRecord(error) ? codeOf(error) : '';
}

/**
 * What a body says that does not have its API's form: of another server's, in a list, in words.
 * A page is no message.
 */
export function bodyReason(body: string | undefined): string {
  const text = body?.trim() ?? '';
  try {
    const parsed: unknown = JSON.parse(text);
    const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    if (!isRecord(first)) return '';
    return typeof first['detail'] === 'string' ? first['detail'] : reasonOf(first);
  } catch {
    return text.startsWith('<') || text.startsWith('{') || text.length > MAX_PLAIN ? '' : text;
  }
}
