import { cutMiddle, serdeJsonString, utf8Length } from '@celestea/core';

import { quietly } from './quietly.ts';

/** Stands in front of each notice of what was left out, so that they can be searched for. */
const CUT_PREFIX = '[content-cut]';

/** A lone surrogate in JSON text; an escaped backslash is skipped, behind which there is none. */
const LONE_SURROGATE = /(\\\\)|\\u[dD][89a-fA-F][\da-fA-F]{2}/g;

/** The part of the room that a single text may take: tried in this order, until all fits. */
const TEXT_SHARES = [1 / 2, 1 / 16, 1 / 128, 0];

/** A notice of what was left out. */
export function cutNotice(count: number, what: string): string {
  return `${CUT_PREFIX} ${String(count)} ${what} left out`;
}

/** Room for the longest notice of bytes and the spaces around it. */
const NOTICE_BYTES = cutNotice(Number.MAX_SAFE_INTEGER, 'bytes').length + 2;

/**
 * A text within so many bytes of UTF-8, or as small as a notice: well-formed, with head and tail
 * kept and a notice between where it was cut.
 */
export function boundedText(text: string, maxBytes: number): string {
  const whole = text.toWellFormed();
  if (utf8Length(whole) <= maxBytes) return whole;
  const half = Math.max(0, Math.floor((maxBytes - NOTICE_BYTES) / 2));
  const cut = cutMiddle(whole, half, half);
  if (cut === null) return whole;
  return `${cut.head} ${cutNotice(cut.omittedBytes, 'bytes')} ${cut.tail}`.trim();
}

/**
 * A value as JSON text within so many bytes: well-formed, and JSON also where it was cut. Its
 * texts keep head and tail; where that is not enough, a notice stands for the whole.
 */
export function boundedJson(value: unknown, maxBytes: number): string {
  const text = jsonText(value);
  const bytes = utf8Length(text);
  if (bytes <= maxBytes) return text;
  return quietly(() => smallerJson(text, maxBytes)) ?? JSON.stringify(cutNotice(bytes, 'bytes'));
}

function jsonText(value: unknown): string {
  return serdeJsonString(value).replace(
    LONE_SURROGATE,
    (_: string, backslashes: string | undefined) => backslashes ?? '\\ufffd',
  );
}

function smallerJson(text: string, maxBytes: number): string | undefined {
  const value: unknown = JSON.parse(text);
  for (const share of TEXT_SHARES) {
    const smaller = JSON.stringify(withShorterTexts(value, Math.floor(maxBytes * share)));
    if (utf8Length(smaller) <= maxBytes) return smaller;
  }
  return undefined;
}

function withShorterTexts(value: unknown, textBytes: number): unknown {
  // a short text is not longer for its notice
  if (typeof value === 'string') return boundedText(value, Math.max(textBytes, NOTICE_BYTES));
  if (Array.isArray(value)) return value.map((part) => withShorterTexts(part, textBytes));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, part]) => [key, withShorterTexts(part, textBytes)]));
}
