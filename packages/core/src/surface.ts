import { isRecord } from './shape.ts';
import type { OmittedSurface, ToolSurface } from './tool.ts';
import { cutMiddle } from './text.ts';

/**
 * What is seen of a text whose middle was left out: head, an exact notice, tail; `null` when
 * the surface is of another kind or does not fit the text (X12). The same row always gives
 * the same text. Never throws.
 */
export function renderOmitted(text: string, surface: ToolSurface): string | null {
  return isOmitted(surface) ? omittedView(text, surface) : null;
}

/** Sizes that are not of this text do not agree with it. */
function omittedView(text: string, surface: OmittedSurface): string | null {
  const { omitted_bytes, total_bytes, head_bytes, tail_bytes, locator, retrieval_hint } = surface;
  if (!(head_bytes >= 0 && tail_bytes >= 0)) return null;
  const cut = cutMiddle(text, head_bytes, tail_bytes);
  if (cut?.totalBytes !== total_bytes || cut.omittedBytes !== omitted_bytes) return null;
  const notice =
    `[${String(omitted_bytes)} of ${String(total_bytes)} bytes left out; ` +
    `the whole result is at ${locator}. ${retrieval_hint}]`;
  return `${cut.head}\n${notice}\n${cut.tail}`;
}

/** What the model sees of a result's value; `whole` is its text without a surface. Never throws. */
export function renderSurface(value: unknown, whole: string, surface: ToolSurface): string {
  const shown = typeof value === 'string' ? renderOmitted(value, surface) : null;
  if (shown !== null) return shown;
  const note = truncationNote(surface);
  return note === null ? whole : `${whole}\n${note}`;
}

function truncationNote(surface: unknown): string | null {
  if (!isRecord(surface) || surface['kind'] !== 'truncation') return null;
  const { note } = surface;
  return typeof note === 'string' ? note : null;
}

/** A surface comes from a log, so that its shape is checked and not believed. */
function isOmitted(surface: unknown): surface is OmittedSurface {
  return (
    isRecord(surface) &&
    surface['kind'] === 'omitted' &&
    typeof surface['head_bytes'] === 'number' &&
    typeof surface['tail_bytes'] === 'number' &&
    typeof surface['locator'] === 'string' &&
    typeof surface['retrieval_hint'] === 'string'
  );
}
