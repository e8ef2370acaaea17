import { describeValue } from '@celestea/core';

/** At most `max` UTF-16 units of a text, with an ellipsis where it was cut. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, ''); // no half characters
  return `${head}…`;
}

/** `name: expected …, got …`, for an error message. */
export const mismatch = (name: string, expected: string, value: unknown): string =>
  `${name}: expected ${expected}, got ${describeValue(value)}`;
