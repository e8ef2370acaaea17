/** How requests are made. */
export type Fetch = typeof globalThis.fetch;

/**
 * A `fetch` that follows no redirect: keys that stand in headers of their own would go along,
 * to whatever server it names. A redirect is an answer like any other that is no success.
 *
 * @param fetch in place of the global one
 */
export function directFetch(fetch?: Fetch): Fetch {
  return (input, init) => (fetch ?? globalThis.fetch)(input, { ...init, redirect: 'manual' });
}
