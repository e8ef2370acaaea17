import { describeValue } from '@celestea/core';

/** What a text that cannot be used is refused with. */
export type Failure = new (message: string) => Error;

/** Where a server is, without the credentials that stood in its URL. */
export interface BaseURL {
  /** Without user, query and trailing slashes: fit to be shown. */
  readonly url: string;
  /** What a user and a password in the URL are sent as: `fetch` takes no URL that holds them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Texts that never stand in an error. */
  readonly secrets: readonly string[];
}

/** Reads a base URL; `null` when it is none. */
export function readBaseURL(text: unknown): BaseURL | null {
  const url = typeof text === 'string' ? parseHttp(text) : null;
  if (url?.search !== '' || url.hash !== '') return null;
  return { url: plainURL(url), ...credentialsOf(url) };
}

/** Reads a base URL; refuses what is none, by its name. */
export function requireBaseURL(name: string, value: unknown, Refusal: Failure = TypeError): BaseURL {
  const baseURL = readBaseURL(value);
  if (baseURL !== null) return baseURL;
  const came = describeBaseURL(value);
  throw new Refusal(`${name}: expected an http or https URL without a query, got ${came}`);
}

/**
 * What came, for an error: never its user and its query. What is no URL of this kind may be a
 * key in the wrong place, whatever it looks like, and is not shown at all.
 */
function describeBaseURL(value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') return describeValue(value);
  const url = parseHttp(value);
  if (url !== null) return JSON.stringify(plainURL(url));
  return BEGINS_HTTP.test(value) ? 'one that cannot be read' : 'a text that is no such URL';
}

const BEGINS_HTTP = /^\s*https?:\/\//i;

function parseHttp(text: string): URL | null {
  return BEGINS_HTTP.test(text) && URL.canParse(text) ? new URL(text) : null;
}

const plainURL = ({ origin, pathname }: URL): string => origin + pathname.replace(/\/+$/, '');

function credentialsOf({ username, password }: URL): Omit<BaseURL, 'url'> {
  if (username === '' && password === '') return { headers: {}, secrets: [] };
  const plain = decode(password);
  const token = base64(`${decode(username)}:${plain}`);
  // a user alone is how some servers are given a key
  const secrets = password === '' ? [username, decode(username)] : [password, plain];
  return { headers: { authorization: `Basic ${token}` }, secrets: [...secrets, token] };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const base64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));

/** Whose signatures those of a server are: not those of another one that speaks the same API. */
export function signerOf(name: string, baseURL: BaseURL): string {
  return `${name}@${new URL(baseURL.url).host}`;
}

/** Reads a key, without the whitespace around it; refuses, and does not show, what no header takes. */
export function requireApiKey(name: string, value: unknown, Refusal: Failure = TypeError): string {
  const key = typeof value === 'string' ? value.trim() : '';
  if (/^[!-~]+$/.test(key)) return key;
  const came = typeof value === 'string' ? 'others' : describeValue(value);
  throw new Refusal(`${name}: expected printable ASCII characters without blanks, got ${came}`);
}
