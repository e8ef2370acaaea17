/** The longest that is taken for meant: a day, in milliseconds. */
const MAX_MS = 86_400_000;

/**
 * How long a provider asked to be left alone, in milliseconds; `null` when it did not, or not
 * in a way that can be read. A time in the past is 0.
 */
export function readRetryAfter(
  headers: Readonly<Record<string, string>> | undefined,
  now: number = Date.now(),
): number | null {
  if (headers === undefined) return null;
  const named = Object.entries(headers).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const { 'retry-after-ms': milliseconds, 'retry-after': given } = Object.fromEntries(named);
  const exact = numberOf(milliseconds);
  if (exact !== null) return bounded(exact);
  const seconds = numberOf(given);
  if (seconds !== null) return bounded(seconds * 1000);
  const date = Date.parse(given ?? '');
  return Number.isNaN(date) ? null : bounded(date - now);
}

function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

const bounded = (milliseconds: number): number => Math.min(Math.max(milliseconds, 0), MAX_MS);
