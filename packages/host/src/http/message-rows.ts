import {
  effectiveOutcome,
  outcomeError,
  outcomePhase,
  type SessionEvent,
} from '@celestea/core';
import { isDenial } from '@celestea/tools';

import type { WireMessage, WirePage } from '../wire.ts';

/** Which rows a page has: the first behind a place, or the last before one. */
export interface PageSpan {
  readonly kind: 'after' | 'before';
  readonly at: number;
}

const NOTHING: WirePage = { messages: [], previous: null, next: null };

/** At most `limit` rows as a person reads them, in the order of the log. */
export function messagePage(
  rows: readonly SessionEvent[],
  { kind, at }: PageSpan,
  limit: number,
): WirePage {
  const shown =
    kind === 'after'
      ? placesFrom(rows, at + 1, 1, limit)
      : placesFrom(rows, Math.min(at, rows.length) - 1, -1, limit).reverse();
  const [first, last] = [shown[0], shown.at(-1)];
  if (first === undefined || last === undefined) return NOTHING;
  return {
    messages: readRows(rows, first, last),
    previous: placesFrom(rows, first - 1, -1, 1).length === 0 ? null : first,
    next: placesFrom(rows, last + 1, 1, 1).length === 0 ? null : last,
  };
}

/** The places of the rows that a person reads, from one on and in one direction. */
function placesFrom(
  rows: readonly SessionEvent[],
  from: number,
  direction: 1 | -1,
  most: number,
): number[] {
  const places: number[] = [];
  for (let at = from; places.length < most; at += direction) {
    const row = rows[at];
    if (row === undefined) break;
    if (row.type !== 'turn_start') places.push(at);
  }
  return places;
}

/** The rows from one place to another, which belong to it. */
function readRows(rows: readonly SessionEvent[], first: number, last: number): WireMessage[] {
  let turn = turnBefore(rows, first);
  return rows.slice(first, last + 1).flatMap((row, index) => {
    if (row.type === 'turn_start') turn = row.id;
    const message = readRow(row, first + index, turn);
    if (row.type === 'turn_end') turn = null;
    return message ?? [];
  });
}

/** The turn that had begun and not ended where a row was written. */
function turnBefore(rows: readonly SessionEvent[], place: number): string | null {
  for (let at = place - 1; at >= 0; at -= 1) {
    const row = rows[at];
    if (row?.type === 'turn_end') return null;
    if (row?.type === 'turn_start') return row.id;
  }
  return null;
}

/** `null` for a row that says nothing by itself. What only a provider understands is left out. */
function readRow(row: SessionEvent, at: number, turn: string | null): WireMessage | null {
  switch (row.type) {
    case 'turn_start':
      return null;
    case 'user_message': {
      const { text, attachments = [] } = row;
      return { at, turn, kind: 'user', text, ...(attachments.length > 0 ? { attachments } : {}) };
    }
    case 'assistant_message':
      return { at, turn, kind: 'assistant', text: row.text };
    case 'thinking_delta':
      return { at, turn, kind: 'thinking', text: row.text };
    case 'tool_call': {
      const { id, name, args } = row;
      return { at, turn, kind: 'tool_call', id, name, args, ...parentOf(row) };
    }
    case 'tool_result': {
      const { id, value, error } = row;
      const denied = isDenial(error) ? { denied: true } : {};
      const abandoned = row.abandoned === true ? { abandoned: true } : {};
      const result = { id, ok: error === null, value, error, ...denied, ...abandoned };
      return { at, turn, kind: 'tool_result', ...result, ...parentOf(row) };
    }
    case 'turn_end': {
      const outcome = effectiveOutcome(row.outcome);
      const end = { outcome: outcomePhase(outcome), error: outcomeError(outcome) };
      return { at, turn: row.id, kind: 'turn_end', ...end };
    }
    default:
      return row satisfies never;
  }
}

function parentOf({ parent_id }: { parent_id?: string }): { parent_id?: string } {
  return parent_id === undefined ? {} : { parent_id };
}
