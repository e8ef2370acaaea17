import type { BaseURL } from './base-url.ts';

/** Whose signatures those of a server are: not those of another one that speaks the same API. */
export function signerOf(name: string, baseURL: BaseURL): string {
  return `${name}@${new URL(baseURL.url).host}`;
}
