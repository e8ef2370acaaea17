import { cutMiddle } from '@celestea/core';

/** How much of a long name is kept of its start and of its end, which says what it is; bytes. */
const HEAD_BYTES = 220;
const TAIL_BYTES = 32;

/** Controls, line separators, and what turns the direction of the text around it. */
const UNFIT = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/**
 * The name of a picture as it may be shown and kept: of a path its last part, well-formed, on
 * one line, at most 255 bytes in UTF-8. `null` when nothing is left of it.
 */
export function cleanName(name: string): string | null {
  const last = name.slice(1 + Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')));
  const clean = last.toWellFormed().replace(UNFIT, '').trim();
  if (clean === '' || clean === '.' || clean === '..') return null;
  const cut = cutMiddle(clean, HEAD_BYTES, TAIL_BYTES);
  return cut === null ? clean : `${cut.head}…${cut.tail}`;
}
